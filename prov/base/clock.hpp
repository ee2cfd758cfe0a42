// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <chrono>
#include <ctime>

namespace odrc {

// Time of the control path: deadlines, retransmissions, ages.
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
inline constexpr Time kNever = Time::max();

// What this thread has had of a processor, whatever else that did meanwhile.
inline std::chrono::nanoseconds processor_time() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

} // namespace odrc
