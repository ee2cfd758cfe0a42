// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/arena_view.hpp"
#include "softrc/shared_memory.hpp"

#include <map>
#include <mutex>

namespace odrc::soft {

// This process's arena: the memory that the processes it talks to map. Holds the shared side of
// every object, and the memory that the device hands out for buffers.
class OwnArena {
public:
    OwnArena(); // throws Error
    OwnArena(const OwnArena&) = delete;
    OwnArena& operator=(const OwnArena&) = delete;

    int fd() const noexcept { return fd_.get(); }
    Arena& header() const noexcept { return *map_.as<Arena>(); }
    ArenaView view() const noexcept { return ArenaView{map_}; }

    // Zeroed, aligned to a cache line, from a page upwards to a page. 0 when memory is out.
    uint64_t allocate(size_t bytes) noexcept;
    void release(uint64_t offset, size_t bytes) noexcept;

    template <class T>
    T* at(uint64_t offset) const noexcept {
        return reinterpret_cast<T*>(map_.base() + offset);
    }
    uint64_t offset_of(const void* p) const noexcept {
        return static_cast<uint64_t>(static_cast<const std::byte*>(p) - map_.base());
    }
    bool contains(const void* p, size_t bytes) const noexcept {
        const auto* b = static_cast<const std::byte*>(p);
        return b >= map_.base() && b < map_.base() + map_.bytes() &&
               bytes <= static_cast<size_t>(map_.base() + map_.bytes() - b);
    }

private:
    Fd fd_;
    Mapping map_;
    std::mutex mutex_;
    std::map<uint64_t, uint64_t> free_; // offset -> bytes; neighbours are always merged
};

} // namespace odrc::soft
