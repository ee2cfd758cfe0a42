// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/copy_long.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace odrc {

// memcpy, for what is a word or two most of the time: that takes no call.
inline void copy_few(void* to, const void* from, size_t length) noexcept {
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    uint64_t first, last; // which overlap
    if (length - sizeof first <= sizeof last) [[likely]] {
        std::memcpy(&first, in, sizeof first);
        std::memcpy(&last, in + length - sizeof last, sizeof last);
        std::memcpy(out, &first, sizeof first);
        std::memcpy(out + length - sizeof last, &last, sizeof last);
    } else if (length > kCopiedAtOnce) {
        copy_long(out, in, length);
    } else if (length > 0) {
        std::memcpy(out, in, length);
    }
}

} // namespace odrc
