// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/buffer_pool.hpp"

#include "base/error.hpp"

namespace odrc::srq {

BufferPool::~BufferPool() {
    for (const Slab& slab : slabs_) counters_.deregistered(slab.memory.bytes().size());
}

void BufferPool::reserve(size_t count) {
    while (kept_ * slab_count_ < count) add_slab();
}

bool BufferPool::grow() noexcept {
    return guarded([this] {
               add_slab();
               return 0;
           }) == 0;
}

void BufferPool::add_slab() {
    if (kept_ < slabs_.size()) { // it was about to go
        ++kept_;
        while (Buffer* buffer = aside_) {
            aside_ = buffer->next;
            buffer->next = free_;
            free_ = buffer;
        }
        aside_count_ = 0;
        if (free_) return;
    }
    if (slabs_.size() > UINT16_MAX) throw Error{FI_ENOMEM};
    auto buffers = std::make_unique<Buffer[]>(slab_count_);
    slabs_.reserve(slabs_.size() + 1);
    verbs::Slab memory{adapter_.context(), adapter_.port(), adapter_.pd(),
                       buffer_size_ * slab_count_};
    for (size_t i = slab_count_; i-- > 0;) {
        buffers[i] = {.data = memory.bytes().data() + i * buffer_size_,
                      .lkey = memory.lkey(),
                      .position = 0,
                      .slab = static_cast<uint16_t>(slabs_.size()),
                      .next = free_,
                      .length = 0};
        free_ = &buffers[i];
    }
    counters_.registered(memory.bytes().size());
    slabs_.push_back({std::move(memory), std::move(buffers)});
    kept_ = slabs_.size();
}

void BufferPool::give_up_slab() noexcept {
    if (kept_ == 0 || kept_ < slabs_.size()) return; // one at a time
    --kept_;
    Buffer* all = std::exchange(free_, nullptr);
    while (Buffer* buffer = all) {
        all = buffer->next;
        Buffer*& list = buffer->slab < kept_ ? free_ : aside_;
        aside_count_ += &list == &aside_;
        buffer->next = list;
        list = buffer;
    }
    drop_idle_slab();
}

void BufferPool::put_aside(Buffer* buffer) noexcept {
    buffer->next = aside_;
    aside_ = buffer;
    ++aside_count_;
    drop_idle_slab();
}

void BufferPool::drop_idle_slab() noexcept {
    if (aside_count_ < slab_count_) return;
    counters_.deregistered(slabs_.back().memory.bytes().size());
    slabs_.pop_back();
    aside_ = nullptr;
    aside_count_ = 0;
}

} // namespace odrc::srq
