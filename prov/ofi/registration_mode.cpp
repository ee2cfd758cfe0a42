// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/registration_mode.hpp"

#include <rdma/fi_domain.h>

namespace odrc::ofi {
namespace {

// The two words that libfabric 1.5 replaced, and whose names libfabric 2 warns of.
constexpr int kBasic = 1 << 0;
constexpr int kScalable = 1 << 1;

// What the first of them means, bit by bit.
constexpr int kNeeded = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

// Programs for versions before that know nothing else.
bool old(uint32_t version) noexcept { return FI_VERSION_LT(version, FI_VERSION(1, 5)); }

} // namespace

bool prepared_for_rma(uint32_t version, const fi_info* hints) noexcept {
    if (!hints || !hints->domain_attr) return true;
    const int asked = hints->domain_attr->mr_mode;
    if (old(version)) return asked != kScalable;
    return asked & kBasic || (asked & kNeeded) == kNeeded;
}

int registration_mode(uint32_t version, const fi_info* hints, const verbs::Port& port,
                      uint64_t caps) noexcept {
    const int asked = hints && hints->domain_attr ? hints->domain_attr->mr_mode : 0;
    // Who names no version and gives no hints looks around, as MPICH 5 does, and speaks of bits
    // later: told the word of before, it would take addresses for offsets.
    const bool looks_around = version == 0 && !hints;
    if ((old(version) && !looks_around) || asked & kBasic) return kBasic;
    // A program that registers its own memory anyway saves a device the work that needs it.
    const int local = port.whole_memory ? 0 : asked & FI_MR_LOCAL;
    return caps & (FI_RMA | FI_ATOMIC) ? kNeeded | local : local;
}

} // namespace odrc::ofi
