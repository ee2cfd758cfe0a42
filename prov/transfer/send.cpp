// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The application's sends, from the call to the completion.

#include "transfer/by_ring.hpp"
#include "transfer/engine.hpp"

#include <cstring>
#include <rdma/fi_endpoint.h>

namespace odrc::transfer {

// A message that lies in the peer's ring when the call returns is over then: nothing of it is kept,
// for when the lane breaks the peer takes what has come whole before it tells how much that was.
// False: nothing was done.
[[gnu::always_inline]] inline bool Engine::deliver(Lane& lane, const SendArguments& a,
                                                   size_t length) noexcept {
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

ssize_t Engine::begin(const SendArguments& a) noexcept {
    if (a.iov.size() > segments_) return -FI_EINVAL;
    const size_t length = length_of(a.iov);
    const bool inject = a.flags & FI_INJECT;
    if (length > (inject ? kInjectSize : kMaxMessage)) return -FI_EMSGSIZE;
    if (transmitting_ >= settings_.transmit_size ||
        (settings_.transmit && settings_.transmit->full()))
        return -FI_EAGAIN;
    Peer* peer = peers_.find(a.to);
    if (!peer) return -FI_EINVAL;

    if (length <= kInOneGranule && peer->listens()) peer->lane->ring_out().fetch_next();
    if (may_post(*peer) && !(a.flags & (FI_FENCE | FI_MORE))) {
        Lane& lane = *peer->lane;
        if (length < srq::kMostInRecord && lane.delivers() && !(a.flags & kConfirmed) &&
            deliver(lane, a, length))
            return 0;
        if (a.iov.size() < segments_ && wire::kMaxMessageHeader + length <= lane.max_inline()) {
            if (inject && !(a.flags & FI_COMPLETION)) return inject_at_once(lane, a, length);
            if (!inject && length <= kShort && !(a.flags & kConfirmed))
                return send_at_once(lane, a, length);
        }
    }

    Send* send = make_send(*peer, a, length);
    if (!send) return -FI_EAGAIN;
    if (goes_in_slices(*peer, *send) && deliver_in_slices(*peer->lane, *send)) {
        complete(*send, 0);
        return 0;
    }
    const int error = submit(*peer, *send);
    if (error) release(*send);
    return -error;
}

Send* Engine::make_send(Peer& peer, const SendArguments& a, size_t length) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return nullptr;
    ++transmitting_;
    send->header = header_for(a);
    send->data = a.data;
    send->context = a.context;
    send->length = length;
    send->fenced = (a.flags & FI_FENCE) != 0;
    send->more = (a.flags & FI_MORE) != 0;
    send->kind = FI_SEND | (a.flags & (FI_MSG | FI_TAGGED));
    send->wanted = (a.flags & FI_COMPLETION) != 0;
    if (send->wanted && a.flags & kConfirmed) send->header.flags |= wire::kConfirm;
    send->report_errors = send->wanted || !(a.flags & FI_INJECT);
    if (a.flags & FI_INJECT) { // the caller takes its memory back at once
        send->pool = &injects_;
        send->buffer = copy_into_buffer(injects_, a.iov);
        if (send->buffer) return send;
    } else if (send->pieces.assign(a.iov, longs_) &&
               (!a.keys || keep_keys(*send, {a.keys, a.iov.size()}))) {
        return send;
    }
    release(*send);
    return nullptr;
}

// Tells a peer how an operation of its own went, with what it gives back; takes care of that.
// False when memory is out.
bool Engine::answer(Peer& peer, wire::FrameKind kind, uint64_t handle, int error,
                    const Results& results) noexcept {
    Send* send = sends_.create(peer);
    if (!send) {
        if (results.buffer) results.pool->give_back(results.buffer);
        return false;
    }
    send->urgent = true;
    send->header.kind = kind;
    send->header.tag = handle;
    send->error = static_cast<uint32_t>(error);
    if (results.buffer) {
        const wire::Finish body{.error = send->error, .unused = 0};
        send->pool = results.pool;
        send->buffer = results.buffer;
        send->built = sizeof body + results.bytes;
        std::memcpy(send->buffer->data + wire::kMaxHeader, &body, sizeof body);
    }
    if (submit(peer, *send)) release(*send);
    return true;
}

// The lane is done with the frame.
void Engine::on_sent(Send& send, Ending end) noexcept {
    send.posted = false;
    if (!end.good()) [[unlikely]]
        return not_sent(send, end);
    if (!send.awaiting) complete(send, send.failure);
}

void Engine::not_sent(Send& send, Ending end) noexcept {
    // The peer has answered it, and so has had it; or it has failed already.
    if (send.header.flags & wire::kConfirm && !send.awaiting) return complete(send, send.failure);
    if (end.frame_lost()) return save(*send.peer, send);
    if (end.session_stands) fill_gap(*send.peer, send.header.sequence);
    if (send.awaiting) answered(send);
    complete(send, end.session_stands ? error_of(end.status) : FI_ECONNRESET);
}

Tally* Engine::tally_of(const Send& send) const noexcept {
    if (!(send.kind & FI_ATOMIC)) return settings_.tallies.sent;
    return send.kind & FI_READ ? settings_.tallies.read : settings_.tallies.written;
}

void Engine::complete(Send& send, int error) noexcept {
    if (send.header.flags & wire::kCollective) [[unlikely]]
        return part_sent(send, error);
    if (!send.urgent && !send.told) count(tally_of(send), error); // an answer is not the program's
    if (settings_.transmit && error && send.report_errors) {
        fi_cq_err_entry entry{};
        entry.op_context = send.context;
        entry.flags = send.kind;
        entry.len = send.length;
        entry.buf = send.pieces.first();
        entry.tag = send.header.tag;
        entry.err = error;
        entry.prov_errno = error;
        settings_.transmit->push_error(entry);
    } else if (settings_.transmit && !error && send.wanted) {
        settings_.transmit->push({.context = send.context,
                                  .flags = send.kind,
                                  .length = send.length,
                                  .buffer = send.pieces.first(),
                                  .data = 0,
                                  .tag = send.header.tag,
                                  .source = FI_ADDR_NOTAVAIL});
    }
    release(send);
}

void Engine::release(Send& send) noexcept {
    if (send.buffer) send.pool->give_back(send.buffer);
    if (send.header_buffer) injects_.give_back(send.header_buffer);
    withdraw(send);
    send.peer->over(send);
    if (!send.urgent) --transmitting_;
    sends_.destroy(&send);
}

} // namespace odrc::transfer
