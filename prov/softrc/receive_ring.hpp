// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/prefetch.hpp"
#include "base/spin_lock.hpp"
#include "softrc/arena.hpp"
#include "softrc/arena_view.hpp"

#include <infiniband/verbs.h>
#include <optional>
#include <vector>

namespace odrc::soft {

// A receive ring as a process sees it that has checked its measures once: they are copied, so
// that no later scribble in shared memory can lead outside it.
class ReceiveRingView {
public:
    ReceiveRingView() = default;
    // Empty where the ring's measures do not hold.
    ReceiveRingView(const ArenaView& arena, uint64_t offset) noexcept;
    explicit operator bool() const noexcept { return ring_ != nullptr; }

    struct Claim {
        uint32_t request;
        uint32_t segments;
        const Segment* list; // in shared memory: read each segment once
    };

    // Takes the receive at the head for the queue pair, or visitor, of that number; holds then
    // names it until the completion stands. False when the ring is empty.
    bool claim(uint32_t claimer, std::atomic<uint32_t>& holds, Claim& out) const noexcept;

    // Fetches what the next claim will look at, so that it need not wait for it.
    void prefetch() const noexcept {
        const Ticket next = ticket(ring_->head.load(std::memory_order_relaxed));
        if (ticket_state(next) == TicketState::posted && ticket_wr(next) < capacity_)
            fetch_to_read(&request(ticket_wr(next)));
    }

    // Whether the limit of a shared receive queue is passed. True once for each time it is set.
    bool limit_reached() const noexcept {
        return ring_->limit.load(std::memory_order_relaxed) != 0 && take_limit();
    }
    ReceiveRing& shared() const noexcept { return *ring_; }

    uint32_t pd() const noexcept { return pd_; }

    // ---- the owner's side ----
    Ticket ticket(uint64_t position) const noexcept {
        return tickets_[position & mask_].load(std::memory_order_acquire);
    }
    void set_ticket(uint64_t position, Ticket ticket) const noexcept {
        tickets_[position & mask_].store(ticket, std::memory_order_release);
    }
    ReceiveRequest& request(uint32_t index) const noexcept {
        return *reinterpret_cast<ReceiveRequest*>(requests_ + size_t{index} * stride_);
    }
    Segment* segments(uint32_t index) const noexcept {
        return reinterpret_cast<Segment*>(&request(index) + 1);
    }
    uint64_t ticket_count() const noexcept { return mask_ + 1; }
    uint64_t lap_of(uint64_t position) const noexcept { return position >> shift_; }

private:
    bool take_limit() const noexcept;

    ReceiveRing* ring_{nullptr};
    std::atomic<Ticket>* tickets_{nullptr};
    std::byte* requests_{nullptr};
    uint64_t mask_{0};
    uint32_t shift_{0};
    uint32_t capacity_{0};
    uint32_t stride_{0};
    uint32_t max_segments_{0};
    uint32_t pd_{0};
};

// A receive queue of this process: its own side of a ring.
class ReceiveQueue {
public:
    // Check ok(): false when memory is out.
    ReceiveQueue(OwnArena& arena, uint32_t pd, uint32_t capacity, uint32_t max_segments) noexcept;
    ~ReceiveQueue();
    ReceiveQueue(const ReceiveQueue&) = delete;
    ReceiveQueue& operator=(const ReceiveQueue&) = delete;

    bool ok() const noexcept { return static_cast<bool>(view_); }
    uint64_t offset() const noexcept { return offset_; }
    uint32_t capacity() const noexcept { return static_cast<uint32_t>(places_.size()); }
    uint32_t max_segments() const noexcept { return max_segments_; }
    const ReceiveRingView& view() const noexcept { return view_; }

    // As ibv_post_recv(3): 0, EINVAL or ENOMEM.
    int post(ibv_recv_wr* wr, ibv_recv_wr** bad_wr) noexcept;

    // Fewer posted receives than the limit raise the event, once. 0: never.
    void arm_limit(uint32_t limit, const EventPipe& events, uint64_t event) noexcept;
    uint32_t limit() const noexcept { return view_.shared().limit.load(std::memory_order_relaxed); }

    struct Posted {
        uint64_t wr_id;
        uint64_t room; // bytes
    };
    // The completion of a receive was polled: its place may be used again. Nothing if it is not
    // posted, which shared memory that was scribbled over may say.
    std::optional<Posted> completed(uint32_t request) noexcept;
    bool outstanding(uint32_t request) const noexcept;

    // Frees the tickets that a dead claimer had taken before it could write the claim down, and
    // gives their requests to lost(request).
    template <class F>
    void recover(uint32_t claimer, F&& lost) noexcept;

private:
    int post_one(const ibv_recv_wr& wr) noexcept;

    OwnArena& arena_;
    uint64_t offset_{0};
    size_t bytes_{0};
    uint32_t max_segments_;
    ReceiveRingView view_;
    mutable SpinLock lock_;
    uint64_t tail_{0};
    std::vector<uint32_t> free_;
    struct Place {
        Posted what;
        bool posted;
    };
    std::vector<Place> places_; // by request: what shared memory need not be asked
};

template <class F>
void ReceiveQueue::recover(uint32_t claimer, F&& lost) noexcept {
    std::lock_guard guard{lock_};
    const uint64_t count = view_.ticket_count();
    for (uint64_t p = tail_ < count ? 0 : tail_ - count; p < tail_; ++p) {
        const Ticket t = view_.ticket(p);
        if (ticket_state(t) != TicketState::claimed || ticket_claimer(t) != claimer) continue;
        view_.set_ticket(p, make_ticket(ticket_lap(t) + 1, TicketState::free, 0, 0));
        lost(ticket_wr(t));
    }
}

} // namespace odrc::soft
