// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/regions.hpp"

namespace odrc::soft {

// The region of a peer's that was written to last, as this process sees it: most writes are into
// one and the same, as a ring is, and need not be looked up field by field.
class Target {
public:
    // Where these bytes are, if they lie in it and it is still what it was; else null.
    std::byte* find(uint32_t key, uint64_t address, size_t length) const noexcept {
        if (!region_ || region_->key.load(std::memory_order_seq_cst) != key ||
            region_->life.load(std::memory_order_relaxed) != life_)
            return nullptr;
        const uint64_t offset = address - base_;
        return offset < length_ && length <= length_ - offset ? begin_ + offset : nullptr;
    }

    // A place was found under that key. Nothing is kept of what this process does not see whole.
    void keep(const ArenaView& arena, bool own, const Place& found) noexcept {
        region_ = nullptr;
        const Region& region = arena.header().regions[found.key >> 8];
        if (region.key.load(std::memory_order_acquire) != found.key) return;
        life_ = region.life.load(std::memory_order_relaxed);
        base_ = region.base;
        length_ = region.length;
        Place whole;
        if (!find_place(arena, own, found.key, found.pd, base_, length_, found.access, whole) ||
            !whole.mapped || region.life.load(std::memory_order_relaxed) != life_)
            return;
        begin_ = whole.mapped;
        region_ = &region;
    }

private:
    const Region* region_{nullptr};
    uint64_t life_{0};
    uint64_t base_{0};
    uint64_t length_{0};
    std::byte* begin_{nullptr};
};

} // namespace odrc::soft
