// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/list.hpp"
#include "base/ticks.hpp"
#include "hostrc/kept_packet.hpp"
#include "hostrc/receives.hpp"
#include "hostrc/work_request.hpp"

namespace odrc::host {

class QueuePair;

struct Stirred; // lists that a completion queue has of its connections
struct Owing;
struct Timed;

// What a connection has only while something is under way on it: it comes from a pool that all
// connections of a completion queue share, and goes back when nothing is left to be sent, heard of,
// acknowledged or told.
struct Activity : ListNode<Stirred>, ListNode<Owing>, ListNode<Timed> {
    // first: the number of the next packet.
    Activity(QueuePair& of, uint32_t first) noexcept
        : connection{of}
        , assigned{first} {}

    QueuePair& connection;

    // ---- what goes out ----
    List<WorkRequest, InStream> stream; // not acknowledged yet; those that have begun go first
    WorkRequest* cursor{nullptr};       // of the stream; null: at its beginning
    List<WorkRequest, InQueue> queue;   // the program's, in the order in which they complete
    List<WorkRequest, InQueue> spent;   // answers that have come, and may be in a datagram yet
    uint32_t assigned;                  // number behind the last work request that has begun
    uint32_t queued{0};
    uint32_t reads{0};        // under way
    uint32_t open_answers{0}; // of the stream
    Ticks silence_at{UINT64_MAX};
    Ticks paused_until{UINT64_MAX};

    // ---- what comes in ----
    Ticks pays_at{0};      // while it owes
    bool receiving{false}; // a message, of which
    uint32_t received{0};  // so many bytes have come,
    Receive receive;       // into this
    EarlyPackets early;

    template <class Tag>
    bool on() const noexcept {
        return static_cast<const ListNode<Tag>&>(*this).linked();
    }
    Ticks timer() const noexcept { return std::min(silence_at, paused_until); }
    bool over() const noexcept {
        return stream.empty() && queue.empty() && !on<Owing>() && !on<Stirred>() && spent.empty() &&
               !receiving && early.empty();
    }
};

} // namespace odrc::host
