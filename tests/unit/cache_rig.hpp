// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A registration cache over a device that counts, and memory for it.

#include "registering_device.hpp"
#include "verbs_rc/registration_cache.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

namespace rig {

using verbs::MemoryMonitor;
using verbs::RegistrationCache;

inline constexpr size_t kPage = 4096;
inline constexpr int kRead = IBV_ACCESS_REMOTE_READ;
inline constexpr int kWrite = IBV_ACCESS_LOCAL_WRITE;
inline constexpr RegistrationCache::Limits kPlenty{.count = 1024, .bytes = size_t{1} << 30};

inline std::byte* map(size_t bytes, void* where = nullptr, int flags = 0) {
    void* memory = mmap(where, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | flags | (where ? MAP_FIXED : 0), -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return static_cast<std::byte*>(memory);
}

// Where nobody else's memory comes to lie: in a hole that a test makes, that of another thread
// might, and what is mapped over it next would be the end of it.
inline void* far_off(size_t bytes) {
    static uintptr_t next = 0x7ea000000000; // far below what the kernel chooses
    constexpr uintptr_t kApart = uintptr_t{2} << 20;
    const uintptr_t here = next;
    next += (bytes + 2 * kApart - 1) / kApart * kApart;
    return reinterpret_cast<void*>(here);
}

struct Mapping {
    explicit Mapping(size_t pages)
        : bytes{pages * kPage}
        , at{map(bytes, far_off(bytes))} {}
    ~Mapping() { munmap(at, bytes); }
    std::byte* page(size_t i) const { return at + i * kPage; }

    size_t bytes;
    std::byte* at;
};

// A cache over a device that counts. Where the kernel has no userfaultfd there is no cache.
struct CacheRig {
    explicit CacheRig(RegistrationCache::Limits limits = kPlenty,
                      Gate::Kind kind = Gate::Kind::many_threads)
        : monitor{MemoryMonitor::of_process()}
        , cache{device, nullptr, kind, limits, monitor, watchdog} {}

    RegistrationCache::Use take(void* address, size_t length, int access = kRead) {
        return take(address, length, access, cache.now());
    }
    RegistrationCache::Use take(void* address, size_t length, int access,
                                RegistrationCache::Moment handed_over) {
        bool fresh;
        return cache.take(address, length, access, handed_over, fresh);
    }

    std::shared_ptr<MemoryMonitor> monitor;
    Watchdog watchdog;
    RegisteringDevice device;
    RegistrationCache cache;
};

inline bool no_userfaultfd() { return MemoryMonitor::of_process() == nullptr; }

} // namespace rig
