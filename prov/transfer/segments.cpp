// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/segments.hpp"

namespace odrc::transfer {

srq::Buffer* copy_into_buffer(srq::BufferPool& pool, std::span<const iovec> iov) noexcept {
    srq::Buffer* buffer = pool.take();
    if (!buffer) return nullptr;
    gather(buffer->data + wire::kMaxHeader, iov);
    return buffer;
}

} // namespace odrc::transfer
