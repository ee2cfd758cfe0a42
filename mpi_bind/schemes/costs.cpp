// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/costs.hpp"

#include "schemes/kept_costs.hpp"

#include <bit>
#include <new>

namespace odrc::mpi {
namespace {

// Two MPIs of different versions, or over different devices, do not share what they know, nor what
// was measured in another way (measure.cpp), of which this is the second.
KeptCosts kept_for(const Fabric& fabric) {
    return KeptCosts{"odrc_mpi " PACKAGE_VERSION ", measure 2, " + fabric.name()};
}

} // namespace

Costs::Costs(Fabric& fabric)
    : fabric_{fabric} {
    if (!fabric.reaches_memory()) return;
    const auto kept = kept_for(fabric).find();
    are_measured_ = kept.has_value();
    if (kept) costs_ = *kept;
}

Costs::~Costs() {
    exposed_staging_.reset();
    exposed_plain_.reset();
    if (staging_) fabric_.release(staging_, kTrialBytes);
}

const TrialMemory& Costs::trial_memory() noexcept {
    static const TrialMemory nothing{};
    if (are_measured_) return nothing;
    if (trial_.plain.key || staging_) return trial_;
    staging_ = fabric_.allocate(kTrialBytes);
    plain_.reset(new (std::nothrow) std::byte[kTrialBytes]{});
    if (!staging_ || !plain_) return nothing;
    exposed_staging_ = fabric_.expose(staging_, kTrialBytes);
    exposed_plain_ = fabric_.expose(plain_.get(), kTrialBytes);
    if (exposed_staging_ && exposed_plain_)
        trial_ = {.staging = exposed_staging_->remote(), .plain = exposed_plain_->remote()};
    return trial_;
}

bool Costs::learn(fi_addr_t peer, const TrialMemory& trial) {
    if (are_measured_ || !std::has_single_bit(++asked_)) return false;
    const KeptCosts kept = kept_for(fabric_);
    const auto turn = kept.take_turn();
    if (!turn) return false;
    auto costs = kept.find(); // by another process, meanwhile
    if (!costs) {
        if (!trial.plain.key) return false;
        costs = measure_costs(fabric_, peer, trial);
        if (costs) kept.keep(*costs);
    }
    are_measured_ = true;
    if (costs) costs_ = *costs;
    return costs.has_value();
}

} // namespace odrc::mpi
