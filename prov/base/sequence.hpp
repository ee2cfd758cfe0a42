// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace odrc {

// Of numbers that go on behind the largest with zero, and of which none is further than half of all
// from another (RFC 1982).
constexpr int32_t distance(uint32_t from, uint32_t to) noexcept {
    return static_cast<int32_t>(to - from);
}
constexpr bool is_before(uint32_t a, uint32_t b) noexcept { return distance(a, b) > 0; }

} // namespace odrc
