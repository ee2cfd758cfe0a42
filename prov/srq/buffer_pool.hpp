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
    uint16_t slab;     // of its pool
    Buffer* next;
    uint32_t length; // of a frame that waits for its turn
};
static_assert(sizeof(Buffer) == 32);

// Buffers of one size, from slabs of registered memory, of which the last one can be given up.
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
    size_t slab_count() const noexcept { return slab_count_; } // buffers of a slab

    // Makes sure that so many buffers exist. Throws Error.
    void reserve(size_t count);

    // Null when memory is out.
    Buffer* take() noexcept {
        if (!free_ && !grow()) return nullptr;
        Buffer* buffer = free_;
        free_ = buffer->next;
        ++taken_;
        return buffer;
    }
    void give_back(Buffer* buffer) noexcept {
        --taken_;
        if (buffer->slab >= kept_) [[unlikely]]
            return put_aside(buffer);
        buffer->next = free_;
        free_ = buffer;
    }
    size_t taken() const noexcept { return taken_; }

    // The last slab goes as soon as all of its buffers are given back, unless buffers run short
    // before.
    void give_up_slab() noexcept;

private:
    struct Slab {
        verbs::Slab memory;
        std::unique_ptr<Buffer[]> buffers;
    };
    bool grow() noexcept;
    void add_slab();
    void put_aside(Buffer* buffer) noexcept;
    void drop_idle_slab() noexcept;

    verbs::Adapter& adapter_;
    Counters& counters_;
    const size_t buffer_size_;
    const size_t slab_count_;
    std::vector<Slab> slabs_;
    size_t kept_{0}; // slabs: one behind these is about to go
    size_t taken_{0};
    Buffer* free_{nullptr};
    Buffer* aside_{nullptr}; // of the slab that is about to go, what has been given back
    size_t aside_count_{0};
};

} // namespace odrc::srq
