// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/regions.hpp"

#include "softrc/own_memory.hpp"

#include <cerrno>

namespace odrc::soft {

uint32_t Regions::add(uint32_t pd, void* address, size_t length, uint64_t base,
                      int access) noexcept {
    const bool whole = access & IBV_ACCESS_ON_DEMAND && !address && length == SIZE_MAX;
    if (!whole && !is_there(address, length, access & IBV_ACCESS_LOCAL_WRITE)) {
        errno = EFAULT;
        return 0;
    }
    std::lock_guard lock{mutex_};
    uint32_t index;
    if (!free_.empty()) {
        index = free_.back();
        free_.pop_back();
    } else if (used_ < kMaxRegions) {
        index = used_++;
    } else {
        errno = ENOMEM;
        return 0;
    }
    Region& region = arena_.header().regions[index];
    region.access = static_cast<uint32_t>(access);
    region.pd = pd;
    region.base = base;
    region.address = reinterpret_cast<uint64_t>(address);
    region.length = length;
    const uint64_t life = region.life.load(std::memory_order_relaxed) + 1;
    region.life.store(life, std::memory_order_relaxed);
    const uint32_t key = index << 8 | static_cast<uint8_t>(life);
    region.key.store(key, std::memory_order_release);
    return key;
}

void Regions::remove(uint32_t key) noexcept {
    const uint32_t index = key >> 8;
    arena_.header().regions[index].key.store(0, std::memory_order_seq_cst);
    try {
        std::lock_guard lock{mutex_};
        free_.push_back(index);
    } catch (const std::bad_alloc&) {
        // The entry stays unused: memory is out anyway.
    }
}

} // namespace odrc::soft
