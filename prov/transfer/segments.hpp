// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/copy_few.hpp"
#include "srq/buffer_pool.hpp"
#include "transfer/wire.hpp"

#include <array>
#include <span>
#include <sys/uio.h>

namespace odrc::transfer {

// The pieces of one frame, as a work request names them: a header, and a message.
struct Segments {
    std::array<ibv_sge, wire::kIovLimit + 1> list;
    uint32_t count{0};

    void add(const void* address, size_t length, uint32_t lkey) noexcept {
        list[count++] = {.addr = reinterpret_cast<uint64_t>(address),
                         .length = static_cast<uint32_t>(length),
                         .lkey = lkey};
    }
};

// A frame with a message that is short enough to be copied behind its header, with room for the end
// of a record (srq/ring.hpp).
inline constexpr size_t kShort = 256;
struct ShortFrame {
    alignas(8) std::byte bytes[srq::record_size(wire::kMaxMessageHeader + kShort)];
};
static_assert(sizeof(ShortFrame) <= srq::kMostInRecord);

// A message as short as this makes a record of one granule, whatever its header.
inline constexpr size_t kInOneGranule =
    srq::kGranule - sizeof(srq::RecordEnd) - sizeof(wire::FrameHeader) - sizeof(uint64_t);

// Copies the pieces one after the other, and gives the end.
inline std::byte* gather(std::byte* to, std::span<const iovec> iov) noexcept {
    if (iov.size() == 1) [[likely]] {
        copy_few(to, iov[0].iov_base, iov[0].iov_len);
        return to + iov[0].iov_len;
    }
    for (const iovec& v : iov) {
        copy_few(to, v.iov_base, v.iov_len);
        to += v.iov_len;
    }
    return to;
}

// Behind a header of that size, in one piece, which a device takes with the call in fewer steps
// than a list. Gives how long it is.
inline size_t join(ShortFrame& frame, size_t header_size, std::span<const iovec> iov) noexcept {
    return static_cast<size_t>(gather(frame.bytes + header_size, iov) - frame.bytes);
}

// Copies a message behind room for its header. Null when memory is out.
srq::Buffer* copy_into_buffer(srq::BufferPool& pool, std::span<const iovec> iov) noexcept;

} // namespace odrc::transfer
