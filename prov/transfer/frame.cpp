// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Frames on their way out. (Short ones: short_frame.cpp.)

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <cstring>

namespace odrc::transfer {

// What is too long for a frame, or what a peer that has little room would have to keep elsewhere
// than in the record of its arrival. What was injected has nothing else left than our copy.
[[gnu::always_inline]] inline bool Engine::is_announced(const Lane& lane,
                                                        const Send& send) const noexcept {
    const bool may_be_long = send.length > kInjectSize; // the least that this can depend on
    return (may_be_long && send.length > crossovers(lane).eager) ||
           send.header.kind == wire::FrameKind::announce ||
           (send.peer->has_little_room && send.length > Arrived::kInside && !send.buffer &&
            !send.numbered);
}

int Engine::post(Lane& lane, Send& send) noexcept {
    if (send.header.kind == wire::FrameKind::placed || send.header.kind == wire::FrameKind::nothing)
        return post_built(lane, send, {});
    if (send.header.kind == wire::FrameKind::atomic) return post_atomic(lane, send);
    if (send.header.kind == wire::FrameKind::multicast) return post_packet(lane, send);
    if (send.header.kind == wire::FrameKind::finish) {
        if (send.built > 0) return post_copied(lane, send, send.built);
        const wire::Finish body{.error = send.error, .unused = 0};
        return post_built(lane, send, std::as_bytes(std::span{&body, 1}));
    }
    if (!is_announced(lane, send)) return post_message(lane, send);
    const int error = announce(lane, send);
    if (error && error != FI_EAGAIN && send.begun) [[unlikely]]
        wireup_.drop(*send.peer, error); // which waits for it behind the slices
    return error;
}

// A message in its frame: inline, gathered from where it lies, or copied together.
int Engine::post_message(Lane& lane, Send& send) noexcept {
    const bool confirm = send.header.flags & wire::kConfirm;
    const bool repeated = send.numbered;
    const size_t header_size = wire::header_size(send.header);
    const bool fits_inline = header_size + send.length <= lane.max_inline();
    const bool in_place = !send.buffer && send.pieces.count() < lane.qp().segments() &&
                          (fits_inline || is_gathered(lane, send));
    if (!in_place && !send.buffer) {
        if (has_many_frames()) return FI_EAGAIN;
        send.pool = &frames_;
        send.buffer = copy_into_buffer(frames_, send.pieces.list());
        if (!send.buffer) return FI_EAGAIN;
    }
    if (const int error =
            in_place ? post_gathered(lane, send) : post_copied(lane, send, send.length)) {
        withdraw_unsent(send);
        return error;
    }
    if (confirm) await_answer(*send.peer, send);
    if (!repeated) count_sent(send.by_ring ? traffic_.ring : traffic_.eager, send.length);
    return 0;
}

int Engine::post_gathered(Lane& lane, Send& send) noexcept {
    const bool fits_inline = wire::header_size(send.header) + send.length <= lane.max_inline();
    const auto whole = lane.adapter().whole_memory_key();
    const bool by_keys = !whole && !fits_inline;
    if (by_keys && !send.header_buffer && !(send.header_buffer = injects_.take())) return FI_EAGAIN;
    number(lane, send);
    // What is held back for more to follow keeps its place.
    if (fits_inline && send.length <= kShort && !send.more) return post_joined(lane, send);
    std::byte* header = by_keys ? send.header_buffer->data : send.header_bytes;
    const size_t header_size =
        wire::write_header(header, send.header, send.data, sends_.handle(&send));
    Segments segments;
    segments.add(header, header_size,
                 by_keys ? lane.key_of(*send.header_buffer) : whole.value_or(0));
    for (size_t i = 0; i < send.pieces.count(); ++i) {
        const iovec& v = send.pieces.iov[i];
        segments.add(v.iov_base, v.iov_len,
                     by_keys ? (*send.registered)[i].lkey() : whole.value_or(0));
    }
    return post_frame(lane, segments, fits_inline ? IBV_SEND_INLINE : 0, send);
}

// A frame whose payload, of that size, lies in its buffer: the header goes in front of it.
int Engine::post_copied(Lane& lane, Send& send, size_t size) noexcept {
    const size_t header_size = wire::header_size(send.header);
    std::byte* frame = send.buffer->data + wire::kMaxHeader - header_size;
    number(lane, send);
    wire::write_header(frame, send.header, send.data, sends_.handle(&send));
    Segments segments;
    segments.add(frame, header_size + size, lane.key_of(*send.buffer));
    const bool fits_inline = header_size + size <= lane.max_inline();
    return post_frame(lane, segments, fits_inline ? IBV_SEND_INLINE : 0, send);
}

// A frame whose payload we have made up: inline where it fits, else through a buffer.
int Engine::post_built(Lane& lane, Send& send, std::span<const std::byte> payload) noexcept {
    const bool confirm = send.header.flags & wire::kConfirm;
    const size_t size = wire::header_size(send.header) + payload.size();
    const bool fits_inline = !send.more && size <= lane.max_inline(); // what waits needs a place
    if (!fits_inline && !send.buffer) {
        send.pool = &frames_;
        send.buffer = frames_.take();
        if (!send.buffer) return FI_EAGAIN;
    }
    alignas(8) std::byte inline_frame[srq::record_size(wire::kMaxBuilt)];
    std::byte* frame = fits_inline ? inline_frame : send.buffer->data;
    number(lane, send);
    const size_t header_size =
        wire::write_header(frame, send.header, send.data, confirm ? sends_.handle(&send) : 0);
    if (!payload.empty()) std::memcpy(frame + header_size, payload.data(), payload.size());
    if (fits_inline) return post_short(lane, frame, size, send);
    Segments segments;
    segments.add(frame, size, lane.key_of(*send.buffer));
    return post_frame(lane, segments, 0, send);
}

// Posts one frame for a send, which is told when the lane is done with it.
int Engine::post_frame(Lane& lane, const Segments& segments, unsigned flags, Send& send) noexcept {
    if (const int error = post_frame(lane, segments, flags | IBV_SEND_SIGNALED,
                                     verbs::WorkKind::send, &send, send.more, send.header.sequence))
        return error;
    went_out(send);
    return 0;
}

void Engine::went_out(Send& send) noexcept {
    send.posted = send.numbered = true;
    send.peer->went_out(send);
}

int Engine::post_frame(Lane& lane, const Segments& segments, unsigned flags, verbs::WorkKind kind,
                       const void* object, bool more, uint32_t sequence) noexcept {
    ibv_send_wr wr{};
    wr.sg_list = const_cast<ibv_sge*>(segments.list.data());
    wr.num_sge = static_cast<int>(segments.count);
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = flags;
    if (const int error = lane.post(wr, kind, object, more)) return not_posted(lane, error);
    lane.set_has_written(false);
    lane.peer().frame_sent(sequence);
    return 0;
}

int Engine::not_posted(const Lane& lane, int error) noexcept {
    ODRC_WARN(FI_LOG_EP_DATA, "{}: a frame to {} could not be posted: {}",
              lane.adapter().port().name(), lane.peer().address.text(), fi_strerror(error));
    return error;
}

// Posts a frame that is not counted, over a lane that has a place for it. False if it ended the
// lane: what the peer was not told of it would never ask for.
bool Engine::post_uncounted(Lane& lane, wire::FrameKind kind, uint64_t tag,
                            std::span<const std::byte> payload) noexcept {
    wire::FrameHeader header{.kind = kind, .flags = 0, .limit = 0, .sequence = 0, .tag = tag};
    stamp(lane, header);
    std::array<std::byte, sizeof header + sizeof(wire::RingOffer)> frame;
    std::memcpy(frame.data(), &header, sizeof header);
    std::ranges::copy(payload, frame.begin() + sizeof header);
    Segments segments;
    segments.add(frame.data(), sizeof header + payload.size(), 0);
    ibv_send_wr wr{};
    wr.sg_list = segments.list.data();
    wr.num_sge = static_cast<int>(segments.count);
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_INLINE;
    const int error = lane.post(wr, verbs::WorkKind::lane, &lane);
    if (error == 0) return true;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: {} could not be told how much more it may send, and where: {}",
              lane.adapter().port().name(), lane.peer().address.text(), fi_strerror(error));
    wireup_.drop(lane.peer(), error);
    return false;
}

} // namespace odrc::transfer
