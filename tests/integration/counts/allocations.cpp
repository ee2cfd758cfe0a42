// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The program's own malloc(3) and kin, which the libraries that it loads use as well: they count,
// and leave the rest to the C library. A sanitizer has some of its own, and nothing is counted.

#include "observation.hpp"

#include <cerrno>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace counts {
namespace {

thread_local Observation* here = nullptr;

[[maybe_unused]] void count() noexcept {
    if (here && here->on) ++here->allocations;
}

} // namespace

void count_allocations_in(Observation& observation) { here = &observation; }

} // namespace counts

#if !defined ODRC_ADDRESS_SANITIZER && !defined ODRC_THREAD_SANITIZER

using counts::count;

extern "C" {

void* malloc(size_t size) noexcept {
    count();
    return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) noexcept {
    count();
    return __libc_calloc(n, size);
}
void* realloc(void* memory, size_t size) noexcept {
    count();
    return __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
void free(void* memory) noexcept {
    count();
    __libc_free(memory);
}

} // extern "C"

#endif
