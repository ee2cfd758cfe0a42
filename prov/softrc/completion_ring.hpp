// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/arena_view.hpp"

#include <algorithm>

namespace odrc::soft {

// What a producer says of a finished work request. The application's own name for it (wr_id)
// never leaves its process.
struct Completion {
    uint32_t byte_len;
    uint32_t imm_data;
    uint32_t qp_num;
    uint32_t src_qp;
    uint32_t qp_index;
    uint32_t request;
    uint8_t status;
    uint8_t opcode;
    uint16_t flags;
};

// A completion ring as a process sees it that has checked its measures once.
class CompletionRingView {
public:
    CompletionRingView() = default;
    CompletionRingView(const ArenaView& arena, uint64_t offset) noexcept;
    explicit operator bool() const noexcept { return ring_ != nullptr; }

    enum class Push {
        done,
        event,   // done, and the owner wants to be told
        overrun, // no room: the completion is lost
    };
    // producer: the number of the queue pair, or visitor, on whose behalf, by which a dead producer
    // is found; 0 for the owner's own completions. solicited: an owner that waits for solicited
    // events alone is told too.
    Push push(const Completion& completion, uint32_t producer, bool solicited) const noexcept;

    CompletionRing& shared() const noexcept { return *ring_; }

    // ---- the owner's side ----
    // A producer has claimed the entry and not filled it yet.
    bool claimed(uint64_t position) const noexcept {
        return claim_turn(claim(position).load(std::memory_order_acquire)) == turn_of(position) &&
               !full(position);
    }
    bool full(uint64_t position) const noexcept {
        return entry(position).full.load(std::memory_order_acquire) == turn_of(position);
    }
    CompletionEntry& entry(uint64_t position) const noexcept { return entries_[position & mask_]; }

    // All entries before the position may be filled again.
    void take(uint64_t position) const noexcept {
        ring_->taken.store(position, std::memory_order_release);
    }
    uint64_t size() const noexcept { return mask_ + 1; }

    // From the position on there is nothing beyond this one: the tail, or the place at it whose
    // taker has not moved it on.
    uint64_t end(uint64_t position) const noexcept {
        const uint64_t there = ring_->tail.load(std::memory_order_acquire) + 1 - position;
        return position + std::min(there, size());
    }

    // Entries from the position on that a dead producer claimed and never filled become ones that
    // are passed over.
    void recover(uint64_t position, uint32_t producer) const noexcept;

    // Whether a receive's completion stands between position and the tail.
    bool holds_receive(uint64_t position, uint32_t qpn, uint32_t request) const noexcept;

private:
    uint64_t turn_of(uint64_t position) const noexcept {
        return ((position >> shift_) + 1) & kTurnMask;
    }
    std::atomic<EntryClaim>& claim(uint64_t position) const noexcept {
        return claims_[position & mask_];
    }
    bool has_room(uint64_t tail) const noexcept;
    bool claim_tail(uint32_t producer, uint64_t& tail) const noexcept;

    CompletionRing* ring_{nullptr};
    CompletionEntry* entries_{nullptr};
    std::atomic<EntryClaim>* claims_{nullptr};
    uint64_t mask_{0};
    uint32_t shift_{0};
};

// Producers ask the owner how far it is only where what they know does not suffice: once in a
// round, if it keeps up.
inline bool CompletionRingView::has_room(uint64_t tail) const noexcept {
    if (tail < ring_->limit.load(std::memory_order_acquire)) return true;
    const uint64_t limit = ring_->taken.load(std::memory_order_acquire) + size();
    ring_->limit.store(limit, std::memory_order_release);
    return tail < limit;
}

// Takes the place at the tail. False when there is no room.
inline bool CompletionRingView::claim_tail(uint32_t producer, uint64_t& tail) const noexcept {
    // After so many places that are not what they should be, the ring is scribbled over.
    for (uint64_t tries = 0; tries <= 2 * size(); ++tries) {
        tail = ring_->tail.load(std::memory_order_acquire);
        if (!has_room(tail)) {
            if (ring_->tail.load(std::memory_order_acquire) == tail) return false;
            continue; // others went on meanwhile
        }
        EntryClaim seen = claim(tail).load(std::memory_order_acquire);
        const bool mine = claim_turn(seen) == turn_of(tail - size()) &&
                          claim(tail).compare_exchange_strong(
                              seen, make_claim(turn_of(tail), producer), std::memory_order_acq_rel);
        // Whoever sees a taken place at the tail moves the tail on: its taker may be dead.
        uint64_t expected = tail;
        ring_->tail.compare_exchange_strong(expected, tail + 1, std::memory_order_acq_rel);
        if (mine) return true;
    }
    return false;
}

inline CompletionRingView::Push CompletionRingView::push(const Completion& c, uint32_t producer,
                                                         bool solicited) const noexcept {
    uint64_t tail;
    if (!claim_tail(producer, tail)) return Push::overrun;
    CompletionEntry& e = entry(tail);
    e.byte_len = c.byte_len;
    e.imm_data = c.imm_data;
    e.qp_num = c.qp_num;
    e.src_qp = c.src_qp;
    e.qp_index = c.qp_index;
    e.request = c.request;
    e.status = c.status;
    e.opcode = c.opcode;
    e.flags = c.flags;
    if (ring_->channel.fd < 0) { // nobody sleeps on it
        e.full.store(turn_of(tail), std::memory_order_release);
        return Push::done;
    }
    // Either the owner, who arms and then looks, sees this entry, or we see that it has armed.
    e.full.store(turn_of(tail), std::memory_order_seq_cst);
    uint32_t armed = ring_->armed.load(std::memory_order_seq_cst);
    const bool wanted = armed == kArmedAny || (armed == kArmedSolicited && solicited);
    if (wanted && ring_->armed.compare_exchange_strong(armed, kNotArmed)) return Push::event;
    return Push::done;
}

} // namespace odrc::soft
