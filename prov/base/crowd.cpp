// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/crowd.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <sched.h>
#include <sys/resource.h>

namespace odrc {

uint64_t switches_to_others() noexcept {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_nivcsw);
}

std::chrono::nanoseconds yield_to_others() noexcept {
    const Time begin = Clock::now();
    sched_yield();
    return Clock::now() - begin;
}

void Crowd::think(bool ask) noexcept {
    if (ask) {
        const uint64_t now = switches_();
        const uint64_t more = now - known_.exchange(now, std::memory_order_relaxed);
        if (felt_.load(std::memory_order_relaxed))
            feel(more >= kMany, kAlone); // and none of them has kept it
        else
            feel(more > 0, alone_.load(std::memory_order_relaxed));
    }
    if (felt_.load(std::memory_order_relaxed) && yield_() >= kKept)
        feel(false, std::min(2 * alone_.load(std::memory_order_relaxed), kMostAlone));
}

void Crowd::feel(bool others, int alone) noexcept {
    felt_.store(others, std::memory_order_relaxed);
    alone_.store(alone, std::memory_order_relaxed);
    left_.store(others ? kCrowded : alone, std::memory_order_relaxed);
}

} // namespace odrc
