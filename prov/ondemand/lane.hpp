// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/ticks.hpp"
#include "ondemand/station.hpp"
#include "verbs_rc/post_list.hpp"
#include "verbs_rc/queue_pair.hpp"
#include "verbs_rc/work_id.hpp"

#include <algorithm>
#include <utility>

namespace odrc::ondemand {

struct Peer;

// How many work requests a lane may have under way: to begin with, and to a peer for whom that was
// often not enough. The memory of a send queue goes with its depth.
inline constexpr uint16_t kFirstDepth = 32;
inline constexpr uint16_t kFullDepth = 128;

// A connection to one peer, over which frames and reads go.
class Lane {
public:
    // received: frames of the session until now. copies: where copies that are kept come from.
    // Throws Error.
    Lane(verbs::QueuePair&& qp, Station& station, verbs::PostList& posting, srq::BufferPool& copies,
         Peer& peer, uint32_t session, uint32_t received)
        : qp_{std::move(qp)}
        , depth_{static_cast<uint16_t>(qp_.depth())}
        , most_{static_cast<uint16_t>(depth_ - 1)}
        , station_{station}
        , by_datagrams_{station.by_datagrams()}
        , delivers_{station.adapter().port().delivers}
        , most_in_record_{station.adapter().port().writes_in_order ? srq::kMostInRecord
                                                                   : srq::kMostSummed}
        , frames_only_{by_datagrams_}
        , attended_{by_datagrams_}
        , posting_{posting}
        , budget_{station.budget()}
        , copies_{copies}
        , peer_{peer}
        , session_{session}
        , received_before_{received} {
        receives_ = station.make_receives(qp_);
    }
    ~Lane();

    verbs::QueuePair& qp() noexcept { return qp_; }
    Station& station() const noexcept { return station_; }
    // In whose domain the memory is that its work requests point to.
    verbs::Adapter& adapter() const noexcept { return station_.memory(); }
    // It is the first of a peer's two (wireup_promotion.cpp).
    bool by_datagrams() const noexcept { return by_datagrams_; }
    // What reads or writes the peer's memory does not go over it: never, or not yet.
    bool frames_only() const noexcept { return frames_only_; }
    void set_frames_only(bool only) noexcept { frames_only_ = only; }
    uint32_t max_inline() const noexcept { return qp_.max_inline(); }
    // Of its queue pair, among those of all stations.
    uint32_t name() const noexcept { return station_.name_of(qp_.number()); }
    // By which the device finds a buffer of the endpoint's, which is registered with the domain's.
    uint32_t key_of(const srq::Buffer& buffer) const noexcept {
        return adapter().whole_memory_key().value_or(buffer.lkey);
    }

    Peer& peer() const noexcept { return peer_; }
    uint32_t session() const noexcept { return session_; } // see Peer::session
    void enter(uint32_t session) noexcept { session_ = session; }

    // One place is kept for the mark that ends a failed lane.
    bool has_room() const noexcept { return used() < most_ && budget_.left > 1; }
    bool full() const noexcept { return used() >= depth_ - 1; }
    // The same for what is no job of the peer's.
    bool has_place() const noexcept { return !full() && budget_.left > 1; }
    bool is_deep() const noexcept { return depth_ == kFullDepth; }
    bool idle() const noexcept { return used() == 0; }

    // Something went over it since this was last asked.
    bool visited() noexcept { return std::exchange(visited_, false); }
    void visit() noexcept { visited_ = true; }
    // So much has gone over it of late that its peer has earned a connection.
    bool has_earned() const noexcept {
        return messages_ >= kEarningMessages || bytes_ >= kEarningBytes;
    }
    void begin_earning() noexcept {
        messages_ = bytes_ = 0;
        earns_since_ = ticks_now();
    }

    // Work requests are under way whose end no completion will tell.
    bool untold() const noexcept { return unsignaled_ > 0; }

    // It seems to have no room, so that what is under way comes to its end; or that no more.
    void hold(bool on) noexcept { most_ = on ? 0 : depth_ - 1; }
    bool held() const noexcept { return most_ == 0; }

    // Posts a work request for object, which is told of its completion if it asks for one
    // (IBV_SEND_SIGNALED); the lane asks on its own account now and then, to learn that earlier
    // ones are done. The caller has made sure of room. Gives 0 or a positive errno.
    // more: the next one follows at once, and until then this one may be held back (PostList).
    int post(ibv_send_wr& wr, verbs::WorkKind kind, const void* object, bool more = false) noexcept;
    bool delivers() const noexcept { return delivers_; } // its device does (verbs::Port)
    bool is_far() noexcept { return qp_.is_far(); }      // (verbs::Context)
    // A record into the peer's ring, that the program writes itself (verbs::DirectOps), where the
    // device delivers. Null if it has to be posted.
    std::byte* open_record(size_t record) noexcept {
        const uint64_t end = ring_out_.begin(srq::granules_of(record));
        return qp_.begin_write(end - record, ring_out_.rkey(), static_cast<uint32_t>(record));
    }
    void close_record() noexcept {
        qp_.end_write();
        visited_ = true;
    }
    // What is never under way. Gives 0 or an errno as verbs::kDeliver says.
    int deliver(ibv_send_wr& wr) noexcept {
        wr.wr_id = 0;
        wr.send_flags |= verbs::kDeliver;
        const int error = posting_.post(qp_.get(), wr);
        if (!error) visited_ = true;
        return error;
    }
    // Of the work request that was posted last nothing else is left but this copy: the lane keeps
    // it until that is done.
    void keep(srq::Buffer& copy) noexcept {
        copy.position = posted_;
        copy.next = nullptr;
        (kept_ ? last_kept_->next : kept_) = &copy;
        last_kept_ = &copy;
    }
    bool keeps_copies() const noexcept { return kept_ != nullptr; }
    // Takes the copy of the work request at this position, if it is kept. All before it are done.
    srq::Buffer* take_kept(uint16_t position) noexcept;

    // So many of those that were held back have been refused.
    void unpost(size_t count) noexcept {
        posted_ = static_cast<uint16_t>(posted_ - count);
        budget_.left += static_cast<uint32_t>(count);
    }

    // ---- rings: that of the peer's, and ours, both only while the lane is whole ----
    srq::RingWriter& ring_out() noexcept { return ring_out_; }
    // Of the ring of either side: bytes.
    size_t most_in_record() const noexcept { return most_in_record_; }
    // It is to be left, and the peer to be told so.
    bool leaves_ring() const noexcept { return leaves_ring_; }
    void set_leaves_ring(bool leaves) noexcept { leaves_ring_ = leaves; }
    srq::Ring* ring() const noexcept { return ring_.get(); } // null: the peer has none
    void set_ring(std::unique_ptr<srq::Ring> ring) noexcept {
        ring_recalled_ = false;
        ring_ = std::move(ring);
    }
    bool ring_is_recalled() const noexcept { return ring_recalled_; }
    void set_ring_recalled() noexcept { ring_recalled_ = true; }
    // That a write which goes before a record is seen before it, verbs do not promise, but that it
    // is seen before what is sent: behind a write, one counted frame has to be sent.
    bool has_written() const noexcept { return has_written_; }
    void set_has_written(bool written) noexcept { has_written_ = written; }
    ShortFrames& short_frames() noexcept { return short_frames_; } // that have come over it

    // The buffer of a receive of its own that has come over it is read.
    void give_back(srq::Buffer* buffer) noexcept { receives_->give_back(buffer); }

    // Frames that have come before others that are still to be found in the other lane's completion
    // queue, in their order.
    void keep_early(srq::Buffer& frame) noexcept;
    srq::Buffer* early() const noexcept { return early_; }
    void forget_early() noexcept; // the first of them

    // Writes nothing to the peer: the completion tells that all before it is done, or that the peer
    // is gone. It does not read: when the answer to that is late and it is asked for again, the
    // kernel's rxe looks for the memory of its key, finds none, and fails the peer's queue pair.
    void probe() noexcept;

    // The completion of the work request at this position was polled: all up to it are done.
    void retire(uint16_t position) noexcept {
        const auto done = static_cast<uint16_t>(position - retired_);
        while (kept_ && static_cast<uint16_t>(kept_->position - retired_ - 1) < done)
            give_back_kept();
        retired_ = position;
        budget_.left += done;
    }
    // Some work request is over.
    bool has_worked() const noexcept { return retired_ != 0; }
    uint32_t received_before() const noexcept { return received_before_; } // frames of the session

    // Nothing more goes out or comes in: what is under way is flushed, and a mark behind it tells
    // when that is over.
    void fail() noexcept;
    bool failed() const noexcept { return failed_; }
    // There is more to do about it when a completion comes.
    bool attended() const noexcept { return attended_; }
    // Its peer waits for its end, in order to repeat what it carried.
    void set_awaited() noexcept {
        awaited_ = true;
        tried_ = posted_ != 0;
    }
    bool awaited() const noexcept { return awaited_; }
    // Something was to go over it until then.
    bool tried() const noexcept { return tried_; }
    // It failed because the peer refused a work request: none behind that was begun.
    void set_refused() noexcept { refused_ = true; }
    bool refused() const noexcept { return refused_; }
    // A failed lane is finished when the mark has come back.
    bool finished() const noexcept { return failed_ && marked_ && used() == 0; }
    void try_mark() noexcept;

private:
    void give_back_kept() noexcept {
        srq::Buffer* done = kept_;
        kept_ = done->next;
        copies_.give_back(done);
    }
    uint16_t used() const noexcept { return static_cast<uint16_t>(posted_ - retired_); }

    // How many work requests may pass without a completion that tells they are done.
    // Half of a short queue is room enough until it comes.
    uint16_t signal_every() const noexcept { return std::min<uint16_t>(depth_ / 2, kSignalEvery); }
    static constexpr uint16_t kSignalEvery = 32;

    static constexpr uint32_t kEarningMessages = 32;
    static constexpr uint32_t kEarningBytes = 64 << 10;
    static constexpr std::chrono::seconds kEarnedWithin{1};
    void earn(const ibv_send_wr& wr) noexcept;

    // These go after the queue pair that fills them.
    std::unique_ptr<srq::OwnReceives> receives_; // null: they are shared
    std::unique_ptr<srq::Ring> ring_;
    verbs::QueuePair qp_;
    srq::RingWriter ring_out_;
    ShortFrames short_frames_;
    const uint16_t depth_; // work requests that may be under way
    uint16_t most_;        // of the peer's jobs
    Station& station_;
    const bool by_datagrams_;
    const bool delivers_;
    const size_t most_in_record_;
    bool frames_only_;
    bool attended_;
    verbs::PostList& posting_;
    CompletionBudget& budget_;
    srq::BufferPool& copies_;
    srq::Buffer* kept_{nullptr}; // in the order of their work requests
    srq::Buffer* last_kept_{nullptr};
    srq::Buffer* early_{nullptr};
    srq::Buffer* last_early_{nullptr};
    uint32_t messages_{0};
    uint32_t bytes_{0};
    Ticks earns_since_{0};
    Peer& peer_;
    uint32_t session_;
    const uint32_t received_before_; // it was made
    uint16_t posted_{0};
    uint16_t retired_{0};
    uint16_t unsignaled_{0};
    bool visited_{false};
    bool failed_{false};
    bool marked_{false};
    bool refused_{false};
    bool awaited_{false};
    bool tried_{false};
    bool has_written_{false};
    bool leaves_ring_{false};
    bool ring_recalled_{false};
};

inline int Lane::post(ibv_send_wr& wr, verbs::WorkKind kind, const void* object,
                      bool more) noexcept {
    const auto position = static_cast<uint16_t>(posted_ + 1);
    if (!(wr.send_flags & IBV_SEND_SIGNALED) &&
        (++unsignaled_ >= signal_every() || budget_.left < budget_.much))
        wr.send_flags |= IBV_SEND_SIGNALED;
    if (wr.send_flags & IBV_SEND_SIGNALED) unsignaled_ = 0;
    wr.wr_id = verbs::WorkId{kind, object, position}.bits();
    if (!(more && posting_.hold(qp_.get(), wr)))
        if (const int error = posting_.post(qp_.get(), wr)) return error;
    posted_ = position;
    visited_ = true;
    --budget_.left;
    if (by_datagrams_ && wr.opcode == IBV_WR_SEND) [[unlikely]]
        earn(wr);
    return 0;
}

} // namespace odrc::ondemand
