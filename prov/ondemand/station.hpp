// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/ring_lanes.hpp"
#include "srq/own_receives.hpp"
#include "srq/receive_queue.hpp"
#include "srq/ring.hpp"
#include "srq/window.hpp"

#include <memory>
#include <optional>

namespace odrc::ondemand {

// Completions that may still come for work requests of all lanes over a device: never more than
// their completion queue has room for.
struct CompletionBudget {
    explicit CompletionBudget(uint32_t all) noexcept
        : left{all}
        , much{all - all / 8} {}
    uint32_t left;
    // Below, each work request asks for its completion. Else a thousand lanes, each with a few that
    // do not, would use up the budget, and keep a copy of each that was injected, with nothing to
    // come that gives them back.
    const uint32_t much;
};

// Memory that somebody else has registered for the endpoint, as long as this is there.
class Registered {
public:
    Registered(Counters& counters, size_t bytes) noexcept
        : counters_{counters}
        , bytes_{bytes} {
        counters_.registered(bytes_);
    }
    ~Registered() { counters_.deregistered(bytes_); }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;

private:
    Counters& counters_;
    const size_t bytes_;
};

// What an endpoint has of a device: where its lanes over that get what comes in, and tell what is
// done.
class Station {
public:
    struct Sizes {
        size_t frame_bytes;                // of the longest frame
        srq::ReceiveQueue::Depth receives; // that wait for frames of all peers
        bool common;                       // they are shared, and each lane has no others
        uint32_t work_requests;            // of all lanes at a time, if the device allows so many
        srq::RingShare rings;              // of all stations
    };

    // Its device is the domain's, or soft0 beside that; or its connections are kept by the
    // processes at both ends, over the datagrams of the domain's.
    enum class Place : uint8_t { domain, beside, datagrams };

    // memory: of whom what work requests point to has its keys; the same but for datagrams.
    // waitable: somebody may sleep until a completion comes. Throws Error.
    Station(verbs::Adapter& adapter, verbs::Adapter& memory, Counters& counters, const Sizes& sizes,
            RingLanes& rings, bool waitable, Place place);

    verbs::Adapter& adapter() const noexcept { return adapter_; }
    verbs::Adapter& memory() const noexcept { return memory_; }
    bool beside() const noexcept { return place_ == Place::beside; }
    bool by_datagrams() const noexcept { return place_ == Place::datagrams; }
    // Numbers of queue pairs have 24 bits, and are those of a device: this tells them apart.
    uint32_t name_of(uint32_t qpn) const noexcept {
        return qpn | static_cast<uint32_t>(place_) << 24;
    }
    ibv_cq* cq() const noexcept { return cq_.get(); }
    ibv_srq* srq() const noexcept { return receives_ ? receives_->get() : nullptr; } // or null
    // Those of a lane, where they are not shared; or null. Throws Error.
    std::unique_ptr<srq::OwnReceives> make_receives(verbs::QueuePair& qp) {
        return own_ ? std::make_unique<srq::OwnReceives>(*own_, qp) : nullptr;
    }
    srq::Shares& shares() noexcept { return shares_; } // of the receive queue, for who sends
    // The buffer of a completed receive is read and may be filled again.
    void give_back(srq::Buffer* buffer) noexcept { receives_->give_back(buffer); }
    // It is to stay as it is, until it is taken back.
    void keep() noexcept { receives_->keep(); }
    void take_back(srq::Buffer* buffer) noexcept { receives_->take_back(buffer); }
    void refill() noexcept {
        if (receives_ && receives_->refill()) shares_.share(receives_->depth());
    }
    // The receives run low (srq::ReceiveQueue), and are to be more.
    bool runs_low() noexcept { return receives_ && receives_->runs_low(); }
    void deepen() noexcept {
        receives_->deepen();
        shares_.share(receives_->depth());
    }
    void arm_receives() noexcept {
        if (receives_) receives_->arm();
    }
    RingLanes& rings() noexcept { return rings_; } // of all stations of the endpoint
    // Throws Error.
    std::unique_ptr<srq::Ring> make_ring() {
        return std::make_unique<srq::Ring>(adapter_, counters_, rings_.bytes_of_next());
    }

    CompletionBudget& budget() noexcept { return budget_; }
    // Work requests whose completions have not come.
    uint32_t under_way() const noexcept { return work_requests_ - budget_.left; }

    // The descriptor becomes readable when a completion comes after arm(). -1 if it is not
    // waitable.
    int fd() const noexcept { return channel_ ? channel_->fd : -1; }
    void arm() noexcept;

    // The queue pair to which peers send that have no connection here yet; 0: there is none.
    uint32_t datagrams() const noexcept { return adapter_.context().datagrams(*cq_.get()); }
    // Something has come from such a peer since this was last asked.
    bool called() noexcept {
        return called_ && called_->load(std::memory_order_relaxed) &&
               called_->exchange(false, std::memory_order_relaxed);
    }

    uint64_t rnr_naks() const noexcept { return adapter_.context().rnr_naks() - rnr_before_; }

private:
    verbs::Adapter& adapter_;
    verbs::Adapter& memory_;
    Counters& counters_;
    RingLanes& rings_;
    const Place place_;
    const uint64_t rnr_before_;
    const uint32_t work_requests_;
    verbs::Channel channel_;
    verbs::Cq cq_;
    const Registered for_datagrams_;
    std::atomic<bool>* const called_;           // null: that cannot be
    std::optional<srq::ReceiveQueue> receives_; // shared by all lanes
    std::optional<srq::BufferPool> own_;        // or for those of each
    srq::Shares shares_;
    CompletionBudget budget_{work_requests_};
};

} // namespace odrc::ondemand
