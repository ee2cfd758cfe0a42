// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <chrono>

namespace odrc {

// Time of the control path: deadlines, retransmissions, ages.
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
inline constexpr Time kNever = Time::max();

} // namespace odrc
