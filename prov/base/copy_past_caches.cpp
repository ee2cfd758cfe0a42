// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/copy_past_caches.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <emmintrin.h>

namespace odrc {
namespace {

constexpr size_t kLine = 64;

void copy_line(std::byte* out, const std::byte* in) noexcept {
    constexpr size_t kWord = sizeof(__m128i);
    for (size_t i = 0; i < kLine; i += kWord)
        _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
}

} // namespace

void copy_past_caches(std::byte* out, const std::byte* in, size_t length) noexcept {
    _mm_sfence(); // these stores may pass others
    const size_t before = std::min(-reinterpret_cast<uintptr_t>(out) % kLine, length);
    std::memcpy(out, in, before);
    size_t done = before;
    for (; length - done >= kLine; done += kLine) copy_line(out + done, in + done);
    std::memcpy(out + done, in + done, length - done);
    _mm_sfence();
}

} // namespace odrc
