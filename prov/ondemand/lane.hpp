// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/post_list.hpp"
#include "verbs_rc/queue_pair.hpp"
#include "verbs_rc/work_id.hpp"

#include <algorithm>
#include <utility>

namespace odrc::ondemand {

struct Peer;

// Completions that may still come for work requests of all lanes of an endpoint: never more than
// its completion queue has room for.
struct CompletionBudget {
    uint32_t left;
};

// How many work requests a lane may have under way.
inline constexpr uint16_t kLaneDepth = 128;

// A connection to one peer, over which frames and reads go.
class Lane {
public:
    // Throws Error.
    Lane(verbs::Adapter& adapter, ibv_cq* cq, ibv_srq* srq, verbs::PostList& posting,
         CompletionBudget& budget, Peer& peer, uint32_t session, uint32_t segments, int access)
        : qp_{adapter, cq, srq, {kLaneDepth, segments}, access}
        , posting_{posting}
        , budget_{budget}
        , peer_{peer}
        , session_{session} {}
    ~Lane() {
        posting_.forget(qp_.get());
        budget_.left += used();
    }

    verbs::QueuePair& qp() noexcept { return qp_; }
    uint32_t max_inline() const noexcept { return qp_.max_inline(); }

    Peer& peer() const noexcept { return peer_; }
    uint32_t session() const noexcept { return session_; } // see Peer::session
    void enter(uint32_t session) noexcept { session_ = session; }

    // The number of the next frame out, until one has gone; and of the next one in.
    uint32_t sequence() const noexcept { return sent_; }
    void frame_sent() noexcept { ++sent_; }
    uint32_t next_received() noexcept {
        visited_ = true;
        return received_++;
    }

    // One place is kept for the mark that ends a failed lane.
    bool has_room() const noexcept { return used() < kLaneDepth - 1 && budget_.left > 1; }
    bool idle() const noexcept { return used() == 0; }

    // Something went over it since this was last asked.
    bool visited() noexcept { return std::exchange(visited_, false); }
    // Work requests are under way whose end no completion will tell.
    bool untold() const noexcept { return unsignaled_ > 0; }

    // Posts a work request for object, which is told of its completion if it asks for one
    // (IBV_SEND_SIGNALED); the lane asks on its own account now and then, to learn that earlier
    // ones are done. The caller has made sure of room. Gives 0 or a positive errno.
    // more: the next one follows at once, and until then this one may be held back (PostList).
    int post(ibv_send_wr& wr, verbs::WorkKind kind, const void* object, bool more = false) noexcept;
    // So many of those that were held back have been refused.
    void unpost(size_t count) noexcept {
        posted_ = static_cast<uint16_t>(posted_ - count);
        budget_.left += static_cast<uint32_t>(count);
    }

    // Writes nothing to the peer: the completion tells that all before it is done, or that the peer
    // is gone. It does not read: when the answer to that is late and it is asked for again, the
    // kernel's rxe looks for the memory of its key, finds none, and fails the peer's queue pair.
    void probe() noexcept;

    // The completion of the work request at this position was polled: all up to it are done.
    void retire(uint16_t position) noexcept {
        const auto done = static_cast<uint16_t>(position - retired_);
        retired_ = position;
        budget_.left += done;
    }

    // Nothing more goes out or comes in: what is under way is flushed, and a mark behind it tells
    // when that is over.
    void fail() noexcept;
    bool failed() const noexcept { return failed_; }
    // A failed lane is finished when the mark has come back.
    bool finished() const noexcept { return failed_ && marked_ && used() == 0; }
    void try_mark() noexcept;

private:
    uint16_t used() const noexcept { return static_cast<uint16_t>(posted_ - retired_); }

    // How many work requests may pass without a completion that tells they are done.
    static constexpr uint16_t kSignalEvery = kLaneDepth / 4;

    verbs::QueuePair qp_;
    verbs::PostList& posting_;
    CompletionBudget& budget_;
    Peer& peer_;
    uint32_t session_;
    uint32_t sent_{0};
    uint32_t received_{0};
    uint16_t posted_{0};
    uint16_t retired_{0};
    uint16_t unsignaled_{0};
    bool visited_{false};
    bool failed_{false};
    bool marked_{false};
};

} // namespace odrc::ondemand
