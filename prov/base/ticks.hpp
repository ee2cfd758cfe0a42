// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <chrono>
#include <cstdint>

namespace odrc {

// The processor's time stamp counter: the time of day without a call, for timers on the path of
// each packet. It runs at one speed, and alike on all processors, wherever Linux itself tells the
// time by it.
using Ticks = uint64_t;

inline Ticks ticks_now() noexcept { return __builtin_ia32_rdtsc(); }

// Measured against the clock the first time that one of these is asked.
Ticks ticks_of(std::chrono::nanoseconds time) noexcept;
std::chrono::nanoseconds time_of(Ticks ticks) noexcept;

} // namespace odrc
