// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/auto_progress.hpp"

#include "base/wakeup_cost.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {
namespace {

// Batches of completions before others that wait for the gate, or for the watchdog, have their
// turn.
constexpr int kBatchesAtOnce = 64;

} // namespace

AutoProgress::AutoProgress(Engine& engine, Counters& counters, Watchdog& watchdog, Gate& gate)
    : engine_{engine}
    , counters_{counters}
    , watchdog_{watchdog}
    , gate_{gate} {
    engine_.arm(); // nothing has come yet: there are no connections
    watchdog_.add(*this, engine_.fd(), Watchdog::Watch::once);
}

AutoProgress::~AutoProgress() { watchdog_.remove(*this, engine_.fd()); }

// With the first event that is for us: to measure takes longer than to open an endpoint that may
// never have one. The watchdog also comes by when others have called it.
bool AutoProgress::begin() noexcept {
    {
        const WatchdogEntry entry{gate_};
        if (!engine_.progresses_by_itself()) return false;
    }
    patience_.emplace(wakeup_cost()); // which the program is not kept waiting for
    const WatchdogEntry entry{gate_};
    counters_.watchdog_patience_ns =
        static_cast<uint64_t>(std::chrono::nanoseconds{patience_->time()}.count());
    return true;
}

Time AutoProgress::serve() noexcept {
    const Patience::Polls polls{.all = polls_.load(std::memory_order_relaxed),
                                .found = found_.load(std::memory_order_relaxed),
                                .sleeps = sleeps_.load(std::memory_order_relaxed)};
    if (!patience_ && !begin()) return kNever;
    if (const auto again = patience_->look(Clock::now(), polls)) return *again;
    const WatchdogEntry entry{gate_};
    bool armed = false;
    for (int i = 0; i < kBatchesAtOnce; ++i) {
        if (engine_.advance()) {
            ++counters_.watchdog_batches;
            armed = false;
        } else if (armed) {
            watchdog_.watch_again(*this, engine_.fd());
            return kNever;
        } else {
            engine_.arm();
            armed = true;
        }
    }
    return Clock::now();
}

} // namespace odrc::transfer
