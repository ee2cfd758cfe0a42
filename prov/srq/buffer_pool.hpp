// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"
#include "verbs_rc/adapter.hpp"

#include <span>
#include <vector>

namespace odrc::srq {

// A piece of registered memory that holds one frame.
struct alignas(16) Buffer {
    std::byte* data;
    uint32_t lkey;
    uint16_t position; // in a send queue, while a lane keeps it
    Buffer* next;
};

// Buffers of one size, from slabs of registered memory that stay until the pool goes.
class BufferPool {
public:
    BufferPool(verbs::Adapter& adapter, Counters& counters, size_t buffer_size,
               size_t slab_count) noexcept
        : adapter_{adapter}
        , counters_{counters}
        , buffer_size_{buffer_size}
        , slab_count_{slab_count} {}
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    size_t buffer_size() const noexcept { return buffer_size_; }

    // Makes sure that so many buffers exist. Throws Error.
    void reserve(size_t count);

    // Null when memory is out.
    Buffer* take() noexcept {
        if (!free_ && !grow()) return nullptr;
        Buffer* buffer = free_;
        free_ = buffer->next;
        return buffer;
    }
    void give_back(Buffer* buffer) noexcept {
        buffer->next = free_;
        free_ = buffer;
    }

private:
    bool grow() noexcept;
    void add_slab();

    verbs::Adapter& adapter_;
    Counters& counters_;
    const size_t buffer_size_;
    const size_t slab_count_; // buffers of a slab
    std::vector<verbs::Slab> slabs_;
    std::vector<std::unique_ptr<Buffer[]>> buffers_;
    Buffer* free_{nullptr};
};

} // namespace odrc::srq
