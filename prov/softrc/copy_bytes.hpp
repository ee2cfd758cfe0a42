// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/copy_long.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace odrc::soft {

// The last word of what is written: whoever sees it sees the rest.
template <class Word>
void publish(std::byte* out, Word word) noexcept {
    if (reinterpret_cast<uintptr_t>(out) % sizeof word == 0) {
        std::atomic_ref{*reinterpret_cast<Word*>(out)}.store(word, std::memory_order_release);
    } else { // nobody can tell it from one that comes byte by byte
        std::atomic_signal_fence(std::memory_order_release);
        std::memcpy(out, &word, sizeof word);
    }
}

// One or two words' worth of bytes, of words of that kind; false if there are fewer.
template <class Word>
bool copy_words(std::byte* out, const std::byte* in, size_t length) noexcept {
    if (length < sizeof(Word)) return false;
    Word first, last; // which overlap
    std::memcpy(&first, in, sizeof first);
    std::memcpy(&last, in + length - sizeof last, sizeof last);
    if (length > sizeof first) std::memcpy(out, &first, sizeof first); // else it is the last
    publish(out + length - sizeof last, last);
    return true;
}

// Copies bytes as a NIC writes them: the last of them last, for that is what programs watch that
// poll memory. Few words, of which most messages are made, take no call.
inline void copy_bytes(void* to, const void* from, size_t length) noexcept {
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    constexpr size_t kWords = 2 * sizeof(uint64_t);
    if (length > 8 * kWords) {
        const size_t before = length - kWords;
        copy_long(out, in, before);
        out += before;
        in += before;
        length = kWords;
    }
    for (; length > kWords; length -= kWords, out += kWords, in += kWords)
        std::memcpy(out, in, kWords);
    copy_words<uint64_t>(out, in, length) || copy_words<uint32_t>(out, in, length) ||
        copy_words<uint16_t>(out, in, length) || copy_words<uint8_t>(out, in, length);
}

} // namespace odrc::soft
