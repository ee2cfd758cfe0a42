// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Frames that the device takes with the call. They go into the peer's ring, or else as one send.

#include "transfer/by_ring.hpp"
#include "transfer/engine.hpp"

#include <cstring>

namespace odrc::transfer {

// Into the peer's ring, if that may be. Behind the frame there is room for the end of a record.
[[gnu::always_inline]] inline int Engine::post_short(Lane& lane, std::byte* frame, size_t size,
                                                     unsigned flags, verbs::WorkKind kind,
                                                     const void* object, uint32_t sequence,
                                                     bool& by_ring) noexcept {
    const size_t record = srq::record_size(size);
    by_ring = goes_by_ring(lane, record);
    ibv_sge piece{.addr = reinterpret_cast<uint64_t>(frame),
                  .length = static_cast<uint32_t>(by_ring ? record : size),
                  .lkey = 0};
    ibv_send_wr wr; // what it has besides is for other operations, and takes long to clear
    wr.next = nullptr;
    wr.imm_data = 0;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = flags | IBV_SEND_INLINE;
    if (by_ring) {
        lane.ring_out().end_record(frame, record, end_of(lane, size));
        write_record(lane, record, wr);
    }
    if (const int error = lane.post(wr, kind, object)) return not_posted(lane, error);
    if (by_ring)
        wrote_record(lane, record);
    else
        lane.set_has_written(false);
    lane.peer().frame_sent(sequence);
    return 0;
}

int Engine::post_short(Lane& lane, std::byte* frame, size_t size, Send& send) noexcept {
    if (const int error = post_short(lane, frame, size, IBV_SEND_SIGNALED, verbs::WorkKind::send,
                                     &send, send.header.sequence, send.by_ring))
        return error;
    went_out(send);
    return 0;
}

// A message with its number, in one piece behind its header.
int Engine::post_joined(Lane& lane, Send& send) noexcept {
    ShortFrame frame;
    const size_t header_size =
        wire::write_header(frame.bytes, send.header, send.data, sends_.handle(&send));
    return post_short(lane, frame.bytes, join(frame, header_size, send.pieces.list()), send);
}

// The steps of a message that has to wait for nothing (jobs.cpp, frame.cpp), in one: it is short
// enough not to be announced to a peer with little room, either.
static_assert(kShort <= Arrived::kInside && kShort <= kInjectSize);
ssize_t Engine::send_at_once(Lane& lane, const SendArguments& a, size_t length) noexcept {
    Send* send = make_send(lane.peer(), a, length);
    if (!send) return -FI_EAGAIN;
    number(lane, *send);
    if (const int error = post_joined(lane, *send)) {
        release(*send);
        return -error;
    }
    count_sent(send->by_ring ? traffic_.ring : traffic_.eager, length);
    return 0;
}

// Nobody awaits its completion: a copy is all that is kept.
ssize_t Engine::inject_at_once(Lane& lane, const SendArguments& a, size_t length) noexcept {
    srq::Buffer* copy = injects_.take();
    if (!copy) return -FI_EAGAIN;
    wire::FrameHeader header = header_for(a);
    header.sequence = lane.peer().sent;
    stamp(lane, header);
    const size_t header_size = wire::header_size(header);
    std::byte* frame = copy->data + wire::kMaxHeader - header_size;
    wire::write_header(frame, header, a.data, 0);
    gather(frame + header_size, a.iov);
    const Kept kept{.address = 0,
                    .rkey = 0,
                    .soft_rkey = 0,
                    .length = static_cast<uint16_t>(length),
                    .header = static_cast<uint8_t>(header_size),
                    .write = false};
    std::memcpy(copy->data, &kept, sizeof kept);
    bool by_ring = false;
    if (const int error = post_short(lane, frame, header_size + length, 0, verbs::WorkKind::lane,
                                     &lane, header.sequence, by_ring)) {
        injects_.give_back(copy);
        return -error;
    }
    lane.keep(*copy);
    count_sent(by_ring ? traffic_.ring : traffic_.eager, length);
    count(settings_.tallies.sent, 0);
    return 0;
}

} // namespace odrc::transfer
