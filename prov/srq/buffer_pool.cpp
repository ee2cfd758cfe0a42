// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/buffer_pool.hpp"

#include "base/error.hpp"

namespace odrc::srq {

BufferPool::~BufferPool() {
    for (const verbs::Slab& slab : slabs_) counters_.memory_given_back(slab.bytes().size());
}

void BufferPool::reserve(size_t count) {
    while (slabs_.size() * slab_count_ < count) add_slab();
}

bool BufferPool::grow() noexcept {
    return guarded([this] {
               add_slab();
               return 0;
           }) == 0;
}

void BufferPool::add_slab() {
    auto buffers = std::make_unique<Buffer[]>(slab_count_);
    slabs_.reserve(slabs_.size() + 1);
    buffers_.reserve(buffers_.size() + 1);
    const verbs::Slab& slab = slabs_.emplace_back(adapter_.context(), adapter_.port(),
                                                  adapter_.pd(), buffer_size_ * slab_count_);
    for (size_t i = slab_count_; i-- > 0;) {
        buffers[i] = {.data = slab.bytes().data() + i * buffer_size_,
                      .lkey = slab.lkey(),
                      .position = 0,
                      .next = nullptr};
        give_back(&buffers[i]);
    }
    buffers_.push_back(std::move(buffers));
    counters_.memory_taken(slab.bytes().size());
}

} // namespace odrc::srq
