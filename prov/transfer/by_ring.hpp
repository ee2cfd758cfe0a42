// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/peer.hpp"

// Frames that go into the ring of their receiver, whoever writes them there.
namespace odrc::transfer {

using ondemand::Lane;

// The peer has a ring, and it has room: the window is not what keeps that from being read into too
// much memory (room.cpp).
[[gnu::always_inline]] inline bool goes_by_ring(Lane& lane, size_t record) noexcept {
    return lane.ring_out().has_room(srq::granules_of(record)) && !lane.has_written() &&
           !lane.peer().has_little_room && record <= lane.most_in_record() &&
           record <= lane.max_inline();
}

// What the end of a record says of a frame of that size.
[[gnu::always_inline]] inline srq::RecordEnd end_of(Lane& lane, size_t size) noexcept {
    const uint16_t freed = lane.ring() ? lane.ring()->tell() : uint16_t{0};
    return {.length = static_cast<uint16_t>(size), .freed = freed, .mark = 0};
}

// Makes a write of the request.
[[gnu::always_inline]] inline void write_record(Lane& lane, size_t record,
                                                ibv_send_wr& wr) noexcept {
    srq::RingWriter& ring = lane.ring_out();
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma = {.remote_addr = ring.begin(srq::granules_of(record)) - record,
                  .rkey = ring.rkey()};
}

// It is in the ring.
[[gnu::always_inline]] inline void wrote_record(Lane& lane, size_t record) noexcept {
    lane.ring_out().wrote(srq::granules_of(record));
    ++lane.peer().sent_by_ring;
}

} // namespace odrc::transfer
