// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Bytes that follow from a number, so that whoever knows the number can check them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fabtests_ext {

// splitmix64: a number from any number.
inline uint64_t scramble(uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

inline void fill(std::byte* bytes, size_t size, uint64_t id) noexcept {
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t word = (id += 0x9e3779b97f4a7c15);
        std::memcpy(bytes + i, &word, std::min<size_t>(8, size - i));
    }
}

inline bool intact(const std::byte* bytes, size_t size, uint64_t id) noexcept {
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t word = (id += 0x9e3779b97f4a7c15);
        if (std::memcmp(bytes + i, &word, std::min<size_t>(8, size - i)) != 0) return false;
    }
    return true;
}

} // namespace fabtests_ext
