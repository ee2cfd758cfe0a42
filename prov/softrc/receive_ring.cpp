// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/receive_ring.hpp"

#include <bit>
#include <cerrno>

namespace odrc::soft {
namespace {

// A slow sender may hold a ticket for a while after the head has passed it. With four tickets for
// each receive that can be posted, the tail does not come round to it meanwhile.
constexpr uint32_t kTicketsPerReceive = 4;

} // namespace

ReceiveRingView::ReceiveRingView(const ArenaView& arena, uint64_t offset) noexcept {
    auto* ring = arena.at<ReceiveRing>(offset);
    if (!ring) return;
    const uint32_t tickets = ring->tickets;
    capacity_ = ring->capacity;
    stride_ = ring->request_stride;
    max_segments_ = ring->max_segments;
    pd_ = ring->pd;
    if (!std::has_single_bit(tickets) || capacity_ == 0 || capacity_ > kMaxReceives ||
        max_segments_ > 64 || stride_ < sizeof(ReceiveRequest) + max_segments_ * sizeof(Segment) ||
        stride_ % 8 != 0)
        return;
    tickets_ = arena.at<std::atomic<Ticket>>(ring->ticket_offset, tickets);
    requests_ = arena.bytes(ring->request_offset, uint64_t{capacity_} * stride_);
    if (!tickets_ || !requests_) return;
    mask_ = tickets - 1;
    shift_ = static_cast<uint32_t>(std::countr_zero(tickets));
    ring_ = ring;
}

bool ReceiveRingView::claim(uint32_t claimer, std::atomic<uint32_t>& holds,
                            Claim& out) const noexcept {
    // After so many tickets that are not what they should be, the ring is scribbled over.
    for (uint64_t tries = 0; tries <= 2 * ticket_count(); ++tries) {
        uint64_t head = ring_->head.load(std::memory_order_acquire);
        std::atomic<Ticket>& place = tickets_[head & mask_];
        Ticket t = place.load(std::memory_order_acquire);
        const uint64_t lap = lap_of(head) & 0xffff;
        if (ticket_lap(t) == lap && ticket_state(t) == TicketState::free) {
            if (ring_->head.load(std::memory_order_acquire) == head) return false;
            continue; // the head went on meanwhile
        }
        const uint32_t request = ticket_wr(t);
        const bool mine =
            ticket_lap(t) == lap && ticket_state(t) == TicketState::posted && request < capacity_ &&
            place.compare_exchange_strong(t,
                                          make_ticket(lap, TicketState::claimed, request, claimer),
                                          std::memory_order_acq_rel);
        if (mine) {
            holds.store(request + 1, std::memory_order_release);
            place.store(make_ticket(lap + 1, TicketState::free, 0, 0), std::memory_order_release);
        }
        // Whoever sees a taken ticket at the head moves the head on: its taker may be dead.
        ring_->head.compare_exchange_strong(head, head + 1, std::memory_order_acq_rel);
        if (!mine) continue;
        const ReceiveRequest& r = this->request(request);
        out = {.request = request,
               .segments = r.segments < max_segments_ ? r.segments : max_segments_,
               .list = segments(request)};
        return true;
    }
    return false;
}

bool ReceiveRingView::take_limit() const noexcept {
    uint32_t limit = ring_->limit.load(std::memory_order_acquire);
    const uint64_t left =
        ring_->tail.load(std::memory_order_acquire) - ring_->head.load(std::memory_order_acquire);
    return limit != 0 && left < limit && ring_->limit.compare_exchange_strong(limit, 0);
}

ReceiveQueue::ReceiveQueue(OwnArena& arena, uint32_t pd, uint32_t capacity,
                           uint32_t max_segments) noexcept
    : arena_{arena}
    , max_segments_{max_segments} {
    const uint32_t tickets = std::bit_ceil(capacity) * kTicketsPerReceive;
    const auto stride =
        static_cast<uint32_t>(sizeof(ReceiveRequest) + max_segments * sizeof(Segment));
    const size_t header = sizeof(ReceiveRing);
    bytes_ = header + tickets * sizeof(Ticket) + size_t{capacity} * stride;
    try {
        free_.reserve(capacity);
        places_.resize(capacity);
    } catch (const std::bad_alloc&) {
        return;
    }
    offset_ = arena.allocate(bytes_);
    if (offset_ == 0) return;
    for (uint32_t i = capacity; i-- > 0;) free_.push_back(i);
    auto* ring = arena.at<ReceiveRing>(offset_);
    ring->capacity = capacity;
    ring->tickets = tickets;
    ring->max_segments = max_segments;
    ring->pd = pd;
    ring->ticket_offset = offset_ + header;
    ring->request_offset = ring->ticket_offset + tickets * sizeof(Ticket);
    ring->request_stride = stride;
    view_ = ReceiveRingView{arena.view(), offset_};
}

ReceiveQueue::~ReceiveQueue() {
    if (offset_ != 0) arena_.release(offset_, bytes_);
}

int ReceiveQueue::post(ibv_recv_wr* wr, ibv_recv_wr** bad_wr) noexcept {
    std::lock_guard guard{lock_};
    for (; wr; wr = wr->next) {
        if (const int error = post_one(*wr)) {
            *bad_wr = wr;
            return error;
        }
    }
    return 0;
}

int ReceiveQueue::post_one(const ibv_recv_wr& wr) noexcept {
    if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > max_segments_) return EINVAL;
    const Ticket old = view_.ticket(tail_);
    const bool vacant =
        ticket_state(old) == TicketState::free && ticket_lap(old) == (view_.lap_of(tail_) & 0xffff);
    if (free_.empty() || !vacant) return ENOMEM;
    const uint32_t index = free_.back();
    free_.pop_back();
    ReceiveRequest& request = view_.request(index);
    request.segments = static_cast<uint32_t>(wr.num_sge);
    Segment* list = view_.segments(index);
    uint64_t room = 0;
    for (int i = 0; i < wr.num_sge; ++i) {
        list[i] = {wr.sg_list[i].addr, wr.sg_list[i].length, wr.sg_list[i].lkey};
        room += wr.sg_list[i].length;
    }
    places_[index] = {{wr.wr_id, room}, true};
    view_.set_ticket(tail_, make_ticket(view_.lap_of(tail_), TicketState::posted, index, 0));
    ++tail_;
    view_.shared().tail.store(tail_, std::memory_order_release);
    return 0;
}

void ReceiveQueue::arm_limit(uint32_t limit, const EventPipe& events, uint64_t event) noexcept {
    ReceiveRing& ring = view_.shared();
    // They are the same each time, and a sender that has found the last limit passed may read them.
    if (ring.limit_event != event) {
        ring.events = events;
        ring.limit_event = event;
    }
    ring.limit.store(limit, std::memory_order_seq_cst);
}

std::optional<ReceiveQueue::Posted> ReceiveQueue::completed(uint32_t request) noexcept {
    std::lock_guard guard{lock_};
    if (request >= places_.size() || !places_[request].posted) return std::nullopt;
    places_[request].posted = false;
    free_.push_back(request);
    return places_[request].what;
}

bool ReceiveQueue::outstanding(uint32_t request) const noexcept {
    std::lock_guard guard{lock_};
    return request < places_.size() && places_[request].posted;
}

} // namespace odrc::soft
