// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The application's sends, from the call to the completion.

#include "transfer/engine.hpp"

#include <cstring>
#include <rdma/fi_endpoint.h>

namespace odrc::transfer {
namespace {

size_t length_of(std::span<const iovec> iov) noexcept {
    size_t length = 0;
    for (const iovec& v : iov) length += v.iov_len;
    return length;
}

// The sender is told of the end only when the receiver has matched the message.
constexpr uint64_t kConfirmed = FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;

wire::FrameHeader header_for(const Engine::SendArguments& a) noexcept {
    wire::FrameHeader header{
        .kind = wire::FrameKind::message, .flags = 0, .segments = 0, .sequence = 0, .tag = a.tag};
    if (a.flags & FI_TAGGED) header.flags |= wire::kTagged;
    if (a.flags & FI_REMOTE_CQ_DATA) header.flags |= wire::kData;
    return header;
}

} // namespace

ssize_t Engine::send(const SendArguments& a) noexcept {
    const size_t length = length_of(a.iov);
    const bool inject = a.flags & FI_INJECT;
    if (length > (inject ? kInjectSize : kMaxMessage)) return -FI_EMSGSIZE;
    if (a.iov.size() > wire::kIovLimit) return -FI_EINVAL;
    if (transmitting_ >= settings_.transmit_size ||
        (settings_.transmit && settings_.transmit->full()))
        return -FI_EAGAIN;
    Peer* peer = peers_.find(a.to);
    if (!peer) return -FI_EINVAL;

    if (inject && !(a.flags & FI_COMPLETION) && may_post(*peer) &&
        wire::kMaxHeader + length <= peer->lane->max_inline() && a.iov.size() < segments_)
        return inject_at_once(*peer->lane, a, length);

    Send* send = make_send(*peer, a, length);
    if (!send) return -FI_EAGAIN;
    const int error = submit(*send);
    if (error) release(*send);
    return -error;
}

// Nobody awaits its completion and the device takes it with the call: nothing is kept of it.
ssize_t Engine::inject_at_once(Lane& lane, const SendArguments& a, size_t length) noexcept {
    alignas(8) std::byte header[wire::kMaxHeader];
    wire::FrameHeader h = header_for(a);
    h.sequence = lane.sequence();
    Segments segments;
    segments.add(header, wire::write_header(header, h, a.data, 0), 0);
    for (const iovec& v : a.iov) segments.add(v.iov_base, v.iov_len, 0);
    const int error = post_frame(lane, segments, IBV_SEND_INLINE, nullptr);
    if (error) return -error;
    count_sent(length);
    count(settings_.tallies.sent, 0);
    return 0;
}

Send* Engine::make_send(Peer& peer, const SendArguments& a, size_t length) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return nullptr;
    ++transmitting_;
    send->header = header_for(a);
    send->data = a.data;
    send->context = a.context;
    send->length = length;
    if (a.flags & FI_COMPLETION) {
        send->completion = FI_SEND | (a.flags & (FI_MSG | FI_TAGGED));
        if (a.flags & kConfirmed) send->header.flags |= wire::kConfirm;
    }
    if (!(a.flags & FI_INJECT)) {
        send->pieces.assign(a.iov);
        send->report_errors = true;
        return send;
    }
    // The caller takes its memory back at once.
    if (!copy_into_buffer(*send, injects_, a.iov)) {
        release(*send);
        return nullptr;
    }
    return send;
}

// Posts the frame, or has it wait for its turn. 0, or a positive fi_errno and nothing was kept.
int Engine::submit(Send& send) noexcept {
    Peer& peer = *send.peer;
    if (may_post(peer)) {
        const int error = post(*peer.lane, send);
        if (error != FI_EAGAIN) return error;
    }
    if (const int error = wireup_.connect(peer)) return error;
    peer.jobs.push_back(send);
    if (peer.ready()) block(peer);
    return 0;
}

void Engine::await_answer(Send& send) noexcept {
    send.awaiting = true;
    send.peer->unanswered.push_back(send);
    ++unanswered_;
    if (!std::exchange(probing_, true)) watchdog_.wake();
}

void Engine::answered(Send& send) noexcept {
    send.awaiting = false;
    List<ondemand::Job>::erase(send);
    --unanswered_;
}

// The lane is done with the frame.
void Engine::on_sent(Send& send, ibv_wc_status status) noexcept {
    send.posted = false;
    if (status != IBV_WC_SUCCESS) {
        if (send.awaiting) answered(send);
        return complete(send, FI_ECONNRESET);
    }
    if (!send.awaiting) complete(send, send.failure);
}

void Engine::complete(Send& send, int error) noexcept {
    if (send.header.kind != wire::FrameKind::finish) count(settings_.tallies.sent, error);
    if (settings_.transmit && error && send.report_errors) {
        fi_cq_err_entry entry{};
        entry.op_context = send.context;
        entry.flags = FI_SEND | (send.header.flags & wire::kTagged ? FI_TAGGED : FI_MSG);
        entry.len = send.length;
        entry.buf = send.pieces.first();
        entry.tag = send.header.tag;
        entry.err = error;
        entry.prov_errno = error;
        settings_.transmit->push_error(entry);
    } else if (settings_.transmit && !error && send.completion) {
        settings_.transmit->push({.context = send.context,
                                  .flags = send.completion,
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
    if (send.exposed) {
        for (const auto& r : *send.exposed) counters_.memory_given_back(r.bytes());
        exposures_.destroy(send.exposed);
    }
    if (send.header.kind != wire::FrameKind::finish) --transmitting_;
    sends_.destroy(&send);
}

} // namespace odrc::transfer
