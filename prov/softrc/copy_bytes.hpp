// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace odrc::soft {

// Copies bytes as a NIC writes them: the last of them last, for that is what programs watch that
// poll memory. A word or two, of which most messages are made, take no call.
inline void copy_bytes(void* to, const void* from, size_t length) noexcept {
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    constexpr size_t kWord = sizeof(uint64_t);
    if (length < kWord) {
        std::memcpy(out, in, length);
        return;
    }
    uint64_t first, last;
    std::memcpy(&first, in, kWord);
    std::memcpy(&last, in + length - kWord, kWord);
    if (length > 2 * kWord)
        std::memcpy(out, in, length - kWord);
    else
        std::memcpy(out, &first, kWord);
    std::atomic_signal_fence(std::memory_order_release);
    std::memcpy(out + length - kWord, &last, kWord);
}

} // namespace odrc::soft
