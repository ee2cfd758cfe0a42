// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/arena.hpp"
#include "softrc/arena_view.hpp"

#include <infiniband/verbs.h>
#include <vector>

namespace odrc::soft {

// A stretch of a process's memory that a key was found to cover.
struct Place {
    std::byte* mapped; // where this process sees it; null: private memory of the other process
    bool shared;       // it lies in the arena, so that all processes see it
    uint64_t address;  // in its owner
    size_t length;
    uint64_t asked;   // what was asked for: the address,
    uint32_t key, pd; // and what it had to match
    int access;
};

// Looks a key up in an arena's regions, as a device does at every use: the key must be live, of
// that protection domain, allow the access and cover the whole stretch. Fills in the place as
// this process reaches it. own: the arena is this process's.
inline bool find_place(const ArenaView& arena, bool own, uint32_t key, uint32_t pd,
                       uint64_t address, size_t length, int access, Place& place) noexcept {
    const uint32_t index = key >> 8;
    if (index == 0 || index >= kMaxRegions) return false;
    Region& region = arena.header().regions[index];
    if (region.key.load(std::memory_order_seq_cst) != key) return false;
    const uint32_t allowed = region.access;
    const uint32_t domain = region.pd;
    const uint64_t base = region.base;
    const uint64_t size = region.length;
    const uint64_t begin = region.address;
    // Unchanged while it was read: the fields belong together.
    std::atomic_signal_fence(std::memory_order_acquire);
    if (region.key.load(std::memory_order_acquire) != key) return false;

    if (domain != pd || (allowed & static_cast<uint32_t>(access)) != static_cast<uint32_t>(access))
        return false;
    if (address < base || length > size || address - base > size - length) return false;
    const uint64_t asked = address;
    address = begin + (address - base);
    const uint64_t in_arena = address - arena.header().base;
    place = {.mapped = nullptr,
             .shared = in_arena < arena.size(),
             .address = address,
             .length = length,
             .asked = asked,
             .key = key,
             .pd = pd,
             .access = access};
    if (own)
        place.mapped = reinterpret_cast<std::byte*>(address);
    else if (place.shared)
        place.mapped = arena.bytes(in_arena, length);
    return own || !place.shared || place.mapped != nullptr;
}

// This process's memory regions.
class Regions {
public:
    explicit Regions(OwnArena& arena) noexcept
        : arena_{arena} {}

    // Gives a key for both local and remote use, or 0 and errno: EFAULT where there is no such
    // memory. base: where the region begins in the addresses that work requests use. All memory of
    // the process has the address null and the length SIZE_MAX.
    uint32_t add(uint32_t pd, void* address, size_t length, uint64_t base, int access) noexcept;

    // From now on the key finds nothing; who looked it up before may still be copying.
    void remove(uint32_t key) noexcept;

private:
    OwnArena& arena_;
    std::mutex mutex_;
    std::vector<uint32_t> free_;
    uint32_t used_{1}; // entry 0 stays empty: no key is 0
};

} // namespace odrc::soft
