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

// What comes by rings wakes nobody: they are for a program that looks.
void AutoProgress::let_have_rings() noexcept {
    if (std::exchange(rings_given_, true)) return;
    const WatchdogEntry entry{gate_};
    engine_.give_rings();
}

// What is written into one till then waits for the next look. A peer may be as slow to leave it as
// its program is to make progress.
Clock::duration AutoProgress::until_rings_are_back() noexcept {
    constexpr int kMostDoubled = 6;
    rings_asked_ = std::min(rings_asked_ + 1, kMostDoubled);
    return std::min<Clock::duration>(patience_->time() * (1 << rings_asked_),
                                     Patience::kLongestLeave);
}

Time AutoProgress::serve() noexcept {
    const Patience::Polls polls{.all = polls_.load(std::memory_order_relaxed),
                                .found = found_.load(std::memory_order_relaxed),
                                .sleeps = sleeps_.load(std::memory_order_relaxed)};
    if (!patience_ && !begin()) return kNever;
    if (const auto again = patience_->look(Clock::now(), polls)) {
        if (patience_->leaves_alone()) let_have_rings();
        return *again;
    }
    const WatchdogEntry entry{gate_, std::try_to_lock};
    if (!entry.is_inside()) return Clock::now() + patience_->time(); // the program makes progress
    const bool may_sleep = engine_.take_rings_back();
    if (may_sleep) rings_asked_ = 0;
    rings_given_ = false;
    bool armed = false;
    for (int i = 0; i < kBatchesAtOnce; ++i) {
        if (engine_.advance()) {
            ++counters_.watchdog_batches;
            armed = false;
        } else if (armed) {
            watchdog_.watch_again(*this, engine_.fd());
            return may_sleep ? kNever : Clock::now() + until_rings_are_back();
        } else {
            engine_.arm();
            armed = true;
        }
    }
    return Clock::now();
}

} // namespace odrc::transfer
