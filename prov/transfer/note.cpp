// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Where a peer has to hear of a write, for it carries remote CQ data or its delivery is to be
// confirmed, a note goes behind it: a frame, which the device delivers after the write. Unlike
// the device's immediate data it has room for all 8 bytes. A peer that counts what is done to its
// memory (FI_RMA_EVENT) has a note behind every read and write.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <algorithm>
#include <rdma/fi_endpoint.h>

namespace odrc::transfer {
namespace {

// The keys of the regions that an operation reaches, each once.
struct Keys {
    explicit Keys(const Rma& rma) noexcept {
        if (!(rma.note & wire::kEvent)) return;
        for (const wire::RemoteSegment& piece : rma.copy.remote.list())
            if (std::ranges::find(list(), piece.rkey) == list().end()) keys[count++] = piece.rkey;
    }
    std::span<const uint32_t> list() const noexcept { return {keys.data(), count}; }

    std::array<uint32_t, wire::kIovLimit> keys;
    size_t count{0};
};

} // namespace

int Engine::post_note(Lane& lane, Rma& rma) noexcept {
    const bool reads = rma.kind == FI_READ;
    const Keys keys{rma};
    wire::FrameHeader header{.kind = reads ? wire::FrameKind::read : wire::FrameKind::wrote,
                             .flags = rma.note,
                             .limit = 0,
                             .sequence = rma.note_numbered ? rma.note_sequence : lane.peer().sent,
                             .tag = rma.copy.bytes};
    stamp(lane, header);
    const bool fits_inline =
        !rma.more && wire::header_size(header, keys.count) <= lane.max_inline();
    if (!fits_inline && !rma.buffer) {
        rma.pool = &frames_;
        rma.buffer = frames_.take();
        if (!rma.buffer) return FI_EAGAIN;
    }
    alignas(8) std::byte inline_frame[wire::kMaxHeader];
    std::byte* frame = fits_inline ? inline_frame : rma.buffer->data;
    const size_t size =
        wire::write_header(frame, header, rma.data, rmas_.handle(&rma), keys.list());
    Segments segments;
    segments.add(frame, size, fits_inline ? 0 : lane.key_of(*rma.buffer));
    unsigned flags = IBV_SEND_SIGNALED;
    // What a read has fetched may be fetched again after what follows it, until it is all here.
    if (reads) flags |= IBV_SEND_FENCE;
    if (fits_inline) flags |= IBV_SEND_INLINE;
    if (const int error = post_frame(lane, segments, flags, verbs::WorkKind::rma, &rma, rma.more,
                                     header.sequence))
        return error;
    rma.note_sequence = header.sequence;
    rma.noted = rma.note_numbered = true;
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
    rma->moved = rma->noted = true; // if it was about to be made again
    rma->lost = 0;
    if (rma->under_way == 0) complete(*rma);
}

// At the peer.
void Engine::on_note(Lane& lane, const wire::Frame& frame) noexcept {
    Peer& peer = lane.peer();
    std::array<uint32_t, wire::kIovLimit> keys;
    if (frame.header.flags & wire::kEvent)
        count_event({.read = frame.header.kind == wire::FrameKind::read,
                     .written = frame.header.kind == wire::FrameKind::wrote},
                    frame.regions(keys));
    if (frame.header.flags & wire::kData && settings_.receive && !closing_)
        settings_.receive->push({.context = nullptr,
                                 .flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
                                 .length = frame.header.tag,
                                 .buffer = nullptr,
                                 .data = frame.data,
                                 .tag = 0,
                                 .source = source_of(&peer)});
    if (!(frame.header.flags & wire::kConfirm) || !peer.in_session(lane.session())) return;
    if (answer(peer, wire::FrameKind::placed, frame.handle, 0)) return;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: no memory to confirm a write of {}", adapter_.port().name(),
              peer.address.text());
    wireup_.drop(peer, FI_ENOMEM);
}

// A peer has done that to each of these regions. What fetches and changes a word is a read to an
// endpoint (fi_endpoint(3)), but a region counts whatever changes it as written (fi_mr(3)).
void Engine::count_event(RegionTallies::Access access, std::span<const uint32_t> keys) noexcept {
    count(access.read ? settings_.tallies.read_by_peers : settings_.tallies.written_by_peers, 0);
    if (!settings_.regions) return; // nobody asked the peer to tell
    for (const uint32_t key : keys) settings_.regions->count(key, access);
}

} // namespace odrc::transfer
