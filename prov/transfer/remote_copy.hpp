// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/message.hpp"
#include "transfer/segments.hpp"

namespace odrc::transfer {

// A copy between our memory and a peer's, each in pieces that need not match, cut into RDMA reads
// or writes: one reaches over one of the peer's pieces and as many of ours as fit.
struct RemoteCopy {
    std::span<const iovec> local;
    Registrations keys; // of the local pieces, or of our copy of them
    RemoteSegments remote;
    size_t bytes{0};    // to be moved: neither side has less
    size_t posted{0};   // bytes for which work requests were posted
    uint32_t piece{0};  // the peer's, where the next one begins
    size_t in_piece{0}; // bytes of it

    size_t left() const noexcept { return bytes - posted; }

    // Fills in the memory of the next work request, of at most that many bytes and segments, and
    // gives its bytes. Of a copy of nothing, it is empty. soft: it is for soft0, beside the
    // domain's device.
    size_t next(bool soft, size_t most, uint32_t max_segments, ibv_send_wr& wr,
                Segments& segments) noexcept;
    void rewind() noexcept {
        posted = in_piece = 0;
        piece = 0;
    }
    // It was posted.
    void advance(size_t count) noexcept {
        posted += count;
        in_piece += count;
    }
};

// A message being read from its sender's memory into that of its receive.
struct Fetch : ondemand::Job {
    explicit Fetch(Peer& p) noexcept
        : Job{ondemand::JobKind::fetch}
        , peer{&p} {
        urgent = true;
    }

    Peer* peer;
    Receive* receive{nullptr};
    Message message{};
    RemoteCopy copy;       // as many bytes as the message has and the receive has room for
    uint32_t under_way{0}; // work requests without their completion
    bool lost{false};      // some of them went down with a lane: all is read again
    int failure{0};        // a fi_errno value
};

// A read or write of the application's, of a peer's memory.
struct Rma : ondemand::Job {
    explicit Rma(Peer& p) noexcept
        : Job{ondemand::JobKind::rma}
        , peer{&p} {}

    Peer* peer;
    void* context{nullptr};
    uint64_t kind{0};   // FI_READ or FI_WRITE
    bool wanted{false}; // its completion
    bool report_errors{false};
    uint8_t note{0};  // flags of the note that follows the work requests; 0: none does
    uint64_t data{0}; // remote CQ data
    Pieces pieces;    // in the application's memory
    RemoteCopy copy;
    iovec copied{};               // or our copy of the pieces, the local side of copy
    srq::Buffer* buffer{nullptr}; // in which that is, behind kMaxHeader bytes for the note, if any
    srq::BufferPool* pool{nullptr}; // where the buffer goes back to
    bool prepared{false};           // the local side of copy is known
    bool moved{false};              // all of copy has been posted
    bool noted{false};              // and the note
    bool note_numbered{false};      // that has its number in the session
    bool told{false};               // the program was told long ago that it is over
    uint32_t note_sequence{0};
    uint32_t lost{0};      // work requests that went down with a lane
    uint32_t under_way{0}; // work requests without their completion
    int failure{0};        // a fi_errno value

    bool all_out() const noexcept { return moved && (noted || note == 0); }
    // The peer has confirmed that.
    bool was_placed() const noexcept { return noted && note & wire::kConfirm && !awaiting; }
    bool has_keys() const noexcept {
        return std::ranges::all_of(copy.keys.list().first(pieces.count()),
                                   [](const auto& key) { return key.lkey() != 0; });
    }
};

} // namespace odrc::transfer
