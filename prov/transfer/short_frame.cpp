// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Frames that the device takes with the call: what most messages are. They go into the peer's ring,
// or else as one send.

#include "transfer/engine.hpp"

#include <cstring>

namespace odrc::transfer {

namespace {

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

} // namespace

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

// A message that lies in the peer's ring when the call returns is over then: nothing of it is kept,
// for when the lane breaks the peer takes what has come whole before it tells how much that was.
// False: nothing was done.
bool Engine::deliver(Lane& lane, const SendArguments& a, size_t length) noexcept {
    wire::FrameHeader header = header_for(a);
    const size_t header_size = wire::header_size(header), size = header_size + length;
    size_t record = srq::record_size(size);
    const bool in_lines = record > srq::kGranule;
    if (in_lines) record = srq::whole_granules(record);
    if (!goes_by_ring(lane, record) || !posting_.empty()) return false;
    std::byte* const frame = lane.open_record(record);
    if (!frame) return false;
    header.sequence = lane.peer().sent;
    stamp(lane, header);
    gather(in_lines ? frame : frame + wire::write_header(frame, header, a.data, 0), a.iov);
    size_t said = size;
    if (in_lines) { // not before: the peer looks into that line
        wire::write_header_behind(frame + record - sizeof(srq::RecordEnd), header, a.data);
        said |= srq::kHeaderBehind;
    }
    lane.ring_out().publish(frame, record, end_of(lane, said));
    lane.close_record();
    wrote_record(lane, record);
    lane.peer().frame_sent(header.sequence);
    count_sent(traffic_.ring, length);
    count(settings_.tallies.sent, 0);
    if (settings_.transmit && a.flags & FI_COMPLETION)
        settings_.transmit->push({.context = a.context,
                                  .flags = FI_SEND | (a.flags & (FI_MSG | FI_TAGGED)),
                                  .length = length,
                                  .buffer = a.iov.empty() ? nullptr : a.iov[0].iov_base,
                                  .data = 0,
                                  .tag = header.tag,
                                  .source = FI_ADDR_NOTAVAIL});
    return true;
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
