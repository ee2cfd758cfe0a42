// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/completion_ring.hpp"

#include <bit>

namespace odrc::soft {

CompletionRingView::CompletionRingView(const ArenaView& arena, uint64_t offset) noexcept {
    auto* ring = arena.at<CompletionRing>(offset);
    if (!ring) return;
    const uint32_t entries = ring->entries;
    if (!std::has_single_bit(entries)) return;
    entries_ = arena.at<CompletionEntry>(ring->entry_offset, entries);
    claims_ = arena.at<std::atomic<EntryClaim>>(ring->claim_offset, entries);
    if (!entries_ || !claims_) return;
    mask_ = entries - 1;
    shift_ = static_cast<uint32_t>(std::countr_zero(entries));
    ring_ = ring;
}

// Producers ask the owner how far it is only where what they know does not suffice: once in a
// round, if it keeps up.
bool CompletionRingView::has_room(uint64_t tail) const noexcept {
    if (tail < ring_->limit.load(std::memory_order_acquire)) return true;
    const uint64_t limit = ring_->taken.load(std::memory_order_acquire) + size();
    ring_->limit.store(limit, std::memory_order_release);
    return tail < limit;
}

// Takes the place at the tail. False when there is no room.
bool CompletionRingView::claim_tail(uint32_t producer, uint64_t& tail) const noexcept {
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

CompletionRingView::Push CompletionRingView::push(const Completion& c, uint32_t producer,
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

void CompletionRingView::recover(uint64_t position, uint32_t producer) const noexcept {
    const uint64_t last = end(position);
    for (uint64_t p = position; p != last; ++p) {
        if (!claimed(p) || claim_producer(claim(p).load(std::memory_order_acquire)) != producer)
            continue;
        entry(p).opcode = kNoCompletion;
        entry(p).full.store(turn_of(p), std::memory_order_release);
    }
}

bool CompletionRingView::holds_receive(uint64_t position, uint32_t qpn,
                                       uint32_t request) const noexcept {
    const uint64_t last = end(position);
    for (uint64_t p = position; p != last; ++p) {
        const CompletionEntry& e = entry(p);
        if (full(p) && e.opcode != kNoCompletion && e.opcode & kReceiveBit && e.qp_num == qpn &&
            e.request == request)
            return true;
    }
    return false;
}

} // namespace odrc::soft
