// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/ticks.hpp"

#include "base/clock.hpp"

namespace odrc {
namespace {

struct Moment {
    Time time;
    Ticks ticks;
};

// Both at once, or nearly so: of a few tries the one that took the shortest.
Moment look() noexcept {
    Moment best{};
    for (Ticks least = UINT64_MAX, tries = 0; tries < 5; ++tries) {
        const Ticks before = ticks_now();
        const Time time = Clock::now();
        const Ticks took = ticks_now() - before;
        if (took >= least) continue;
        least = took;
        best = {time, before + took / 2};
    }
    return best;
}

double measure() noexcept {
    constexpr std::chrono::microseconds kLongEnough{500}; // for a part in a thousand
    const Moment first = look();
    while (Clock::now() - first.time < kLongEnough) {
    }
    const Moment last = look();
    const std::chrono::nanoseconds time = last.time - first.time;
    return static_cast<double>(last.ticks - first.ticks) / static_cast<double>(time.count());
}

double per_ns() noexcept {
    static const double measured = measure();
    return measured;
}

} // namespace

Ticks ticks_of(std::chrono::nanoseconds time) noexcept {
    return static_cast<Ticks>(static_cast<double>(time.count()) * per_ns());
}

std::chrono::nanoseconds time_of(Ticks ticks) noexcept {
    return std::chrono::nanoseconds{static_cast<int64_t>(static_cast<double>(ticks) / per_ns())};
}

} // namespace odrc
