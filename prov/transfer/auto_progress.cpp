// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/auto_progress.hpp"

#include "transfer/engine.hpp"

#include <utility>

namespace odrc::transfer {
namespace {

using namespace std::chrono_literals;

// A program that has polled at all when there is progress to make is given so much time to make it
// itself; and as much again as long as it polls so often in that time.
constexpr auto kLookAgain = 5ms;
constexpr uint32_t kPolling = 16;

// Batches of completions before others that wait for the gate, or for the watchdog, have their
// turn.
constexpr int kBatchesAtOnce = 64;

} // namespace

AutoProgress::AutoProgress(Engine& engine, Watchdog& watchdog, Gate& gate)
    : engine_{engine}
    , watchdog_{watchdog}
    , gate_{gate} {
    engine_.arm(); // nothing has come yet: there are no connections
    watchdog_.add(*this, engine_.fd(), Watchdog::Watch::once);
}

AutoProgress::~AutoProgress() { watchdog_.remove(*this, engine_.fd()); }

Time AutoProgress::serve() noexcept {
    const uint32_t polls = polls_.load(std::memory_order_relaxed);
    const uint32_t since = polls - std::exchange(polls_seen_, polls);
    left_alone_ = since >= (left_alone_ ? kPolling : 1);
    if (left_alone_) return Clock::now() + kLookAgain;
    const WatchdogEntry entry{gate_};
    bool armed = false;
    for (int i = 0; i < kBatchesAtOnce; ++i) {
        if (engine_.advance()) {
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
