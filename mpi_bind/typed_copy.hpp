// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Copies of what is short: a call of memcpy takes longer than the moves that it makes. What is said
// of memory that overlaps holds as with memcpy.
namespace odrc::mpi {

// A size that is known when this is compiled.
template <size_t N>
using Size = std::integral_constant<size_t, N>;

template <size_t N>
inline void copy(std::byte* to, const std::byte* from, Size<N>) noexcept {
    std::memcpy(to, from, N);
}

// Of N to 2 N bytes: the first of them and the last, which may overlap.
template <size_t N>
inline void copy_ends(std::byte* to, const std::byte* from, size_t n) noexcept {
    std::byte first[N], last[N];
    std::memcpy(first, from, N);
    std::memcpy(last, from + n - N, N);
    std::memcpy(to, first, N);
    std::memcpy(to + n - N, last, N);
}

inline void copy(std::byte* to, const std::byte* from, size_t n) noexcept {
    constexpr size_t kLong = 128; // from here on memcpy's wider moves are worth its call
    if (n >= kLong) {
        std::memcpy(to, from, n);
    } else if (n >= 16) {
        for (; n > 32; n -= 16, to += 16, from += 16) std::memcpy(to, from, 16);
        copy_ends<16>(to, from, n);
    } else if (n >= 8) {
        copy_ends<8>(to, from, n);
    } else if (n >= 4) {
        copy_ends<4>(to, from, n);
    } else {
        for (size_t i = 0; i < n; ++i) to[i] = from[i];
    }
}

inline constexpr size_t kLine = 64; // bytes of a cache's

// To memory that is not read before much else has gone through the caches: whole lines go straight
// there, and need not be read first. Blocks with few of these gain little. A fence has to follow.
inline void stream(std::byte* to, const std::byte* from, size_t n) noexcept {
#ifdef __SSE2__
    constexpr size_t kLong = 512;
    if (n >= kLong) {
        const size_t before = -reinterpret_cast<uintptr_t>(to) % kLine;
        copy(to, from, before);
        n -= before;
        for (to += before, from += before; n >= kLine; n -= kLine, to += kLine, from += kLine)
            for (size_t i = 0; i < kLine; i += 16)
                _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                                 _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
#endif
    copy(to, from, n);
}

inline void fence_streams() noexcept {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

// Short pieces of so many bytes, each so far behind the last one, want the same few places of the
// nearest cache, which has 64 sets of 64 bytes.
inline bool are_rivals(ptrdiff_t stride, size_t n) noexcept {
    return n <= 32 && stride % 2048 == 0;
}

// So many of them are read at a time (the cache has as many ways, or more). A processor that knows
// of others meanwhile fetches those as well, and in vain: by the time that one is copied, what it
// has fetched has had to make room.
inline constexpr size_t kRivalsRead = 8;
inline void settle_reads() noexcept {
#ifdef __SSE2__
    _mm_lfence();
#endif
}
// So many are written at a time: the lines of all that are still to be written are fetched, too, of
// up to 64 of them, and only that they all have been lets no more come.
inline constexpr size_t kRivalsWritten = 16;
inline void settle_writes() noexcept {
#ifdef __SSE2__
    _mm_mfence();
#endif
}

// Calls f with the size, as a constant where it is one that is met often.
template <class F>
inline void with_size(size_t n, F&& f) noexcept {
    switch (n) {
    case 4:
        return f(Size<4>{});
    case 8:
        return f(Size<8>{});
    case 12:
        return f(Size<12>{});
    case 16:
        return f(Size<16>{});
    case 20:
        return f(Size<20>{});
    case 24:
        return f(Size<24>{});
    case 28:
        return f(Size<28>{});
    case 32:
        return f(Size<32>{});
    case 36:
        return f(Size<36>{});
    case 40:
        return f(Size<40>{});
    case 48:
        return f(Size<48>{});
    case 56:
        return f(Size<56>{});
    case 64:
        return f(Size<64>{});
    default:
        return f(n);
    }
}

} // namespace odrc::mpi
