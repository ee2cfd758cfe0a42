// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bsend_buffer.hpp"

#include "process.hpp"

#include <utility>

namespace odrc::mpi {

void* BsendBuffer::memory_ = nullptr;
size_t BsendBuffer::size_ = 0;
size_t BsendBuffer::used_ = 0;

bool BsendBuffer::attach(void* memory, size_t size) noexcept {
    if (memory_) return false;
    memory_ = memory;
    size_ = size;
    return true;
}

// Room may come back with progress, but not more than there is.
bool BsendBuffer::take(size_t bytes) noexcept {
    if (bytes > size_ - used_) Process::get().advance();
    if (bytes > size_ - used_) return false;
    used_ += bytes;
    return true;
}

void* BsendBuffer::detach(size_t& size) noexcept {
    Process::get().advance_until([] { return used_ == 0; });
    size = std::exchange(size_, 0);
    return std::exchange(memory_, nullptr);
}

} // namespace odrc::mpi
