// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Where a peer has to hear of a write, for it carries remote CQ data or its delivery is to be
// confirmed, a note goes behind it: a frame, which the device delivers after the write. Unlike
// the device's immediate data it has room for all 8 bytes.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <rdma/fi_endpoint.h>

namespace odrc::transfer {

int Engine::post_note(Lane& lane, Rma& rma) noexcept {
    const wire::FrameHeader header{.kind = wire::FrameKind::wrote,
                                   .flags = rma.note,
                                   .segments = 0,
                                   .sequence = lane.sequence(),
                                   .tag = rma.copy.bytes};
    const bool fits_inline = wire::header_size(header) <= lane.max_inline();
    if (!fits_inline && !rma.buffer) {
        rma.pool = &frames_;
        rma.buffer = frames_.take();
        if (!rma.buffer) return FI_EAGAIN;
    }
    alignas(8) std::byte inline_frame[wire::kMaxHeader];
    std::byte* frame = fits_inline ? inline_frame : rma.buffer->data;
    const size_t size = wire::write_header(frame, header, rma.data, rmas_.handle(&rma));
    Segments segments;
    segments.add(frame, size, fits_inline ? 0 : rma.buffer->lkey);
    unsigned flags = IBV_SEND_SIGNALED;
    if (fits_inline) flags |= IBV_SEND_INLINE;
    if (const int error = post_frame(lane, segments, flags, verbs::WorkKind::rma, &rma))
        return error;
    rma.noted = true;
    if (rma.note & wire::kConfirm) await_answer(*rma.peer, rma);
    return 0;
}

// The peer has processed what came before the note.
void Engine::on_placed(Peer& peer, uint64_t handle) noexcept {
    Rma* rma = rmas_.find(handle);
    if (!rma || rma->peer != &peer || !rma->awaiting) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: {} confirmed a write that was not made to it",
                  adapter_.port().name(), peer.address.text());
        return;
    }
    answered(*rma);
    if (rma->under_way == 0) complete(*rma);
}

// At the peer.
void Engine::on_wrote(Lane& lane, const wire::Frame& frame) noexcept {
    Peer& peer = lane.peer();
    if (frame.header.flags & wire::kData && settings_.receive && !closing_)
        settings_.receive->push({.context = nullptr,
                                 .flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
                                 .length = frame.header.tag,
                                 .buffer = nullptr,
                                 .data = frame.data,
                                 .tag = 0,
                                 .source = source_of(&peer)});
    const bool connected = peer.ready() && peer.attempt == lane.attempt();
    if (!(frame.header.flags & wire::kConfirm) || !connected) return;
    if (answer(peer, wire::FrameKind::placed, frame.handle, 0)) return;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: no memory to confirm a write of {}", adapter_.port().name(),
              peer.address.text());
    wireup_.drop(peer, FI_ENOMEM);
}

} // namespace odrc::transfer
