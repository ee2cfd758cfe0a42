// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

namespace odrc {

// Ask for a line of the cache before it is needed, whether there is memory at the address or not. A
// function that does nothing else has no effects in the compiler's eyes, and calls of it are left
// out: these are no calls.
[[gnu::always_inline]] inline void fetch_to_read(const void* address) noexcept {
    __builtin_prefetch(address);
}

// For this processor alone. Compilers make that fetch_to_read() unless they are told that all
// processors know prefetchw, which those of x86-64 do.
[[gnu::always_inline]] inline void fetch_to_write(const void* address) noexcept {
#ifdef __x86_64__
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
    __builtin_prefetch(address, 1);
#endif
}

} // namespace odrc
