// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Keys to sort, digit by digit.

#include "fabtests_ext/support/content.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench {

using Key = uint32_t;
inline constexpr unsigned kDigitBits = 7, kDigits = 1u << kDigitBits;
inline constexpr unsigned kPasses = 4;
using Histogram = std::array<uint32_t, kDigits>;

inline std::vector<Key> make_keys(size_t count, uint64_t seed) {
    std::vector<Key> keys(count);
    for (size_t i = 0; i < count; ++i)
        keys[i] = fabtests_ext::scramble(seed + i) & ((Key{1} << kPasses * kDigitBits) - 1);
    return keys;
}

} // namespace bench
