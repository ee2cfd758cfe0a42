// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/scheme.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace odrc::mpi {

// What each way of moving a message is expected to take of it, in nanoseconds. Ways are schemes, or
// what else their owner tells apart by these numbers.
using Expected = std::array<double, kSchemes>;
inline constexpr Scheme kFirstWay{}; // what is taken where nothing is chosen
inline constexpr double kNever = std::numeric_limits<double>::infinity(); // it cannot be taken

inline Scheme quickest(const Expected& expected) noexcept {
    return static_cast<Scheme>(std::ranges::min_element(expected) - expected.begin());
}

// Whether a way can be taken, and takes no more than so many times what the quickest one does.
inline bool is_within(double times, size_t way, const Expected& expected) noexcept {
    return expected[way] < kNever && expected[way] <= times * *std::ranges::min_element(expected);
}
inline constexpr double kClose = 1.5; // times: ways that are about as quick

} // namespace odrc::mpi
