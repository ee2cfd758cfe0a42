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
    if (!entries_) return;
    mask_ = entries - 1;
    shift_ = static_cast<uint32_t>(std::countr_zero(entries));
    ring_ = ring;
}

CompletionRingView::Push CompletionRingView::push(const Completion& c, uint32_t producer,
                                                  bool solicited) const noexcept {
    uint64_t tail;
    CompletionEntry* slot;
    for (uint64_t tries = 0;; ++tries) {
        if (tries > 2 * size()) return Push::overrun; // the ring is scribbled over
        tail = ring_->tail.load(std::memory_order_acquire);
        slot = &entry(tail);
        uint64_t state = slot->state.load(std::memory_order_acquire);
        const bool vacant =
            state_phase(state) == EntryPhase::empty && state_lap(state) == lap_of(tail);
        const bool mine =
            vacant && slot->state.compare_exchange_strong(
                          state, make_state(lap_of(tail), EntryPhase::claimed, producer),
                          std::memory_order_acq_rel);
        const bool lap_behind = ((lap_of(tail) - state_lap(state)) & kLapMask) == 1;
        if (lap_behind && ring_->tail.load(std::memory_order_acquire) == tail) {
            // The owner has not emptied the entry since the last time round.
            return Push::overrun;
        }
        // Whoever sees a taken entry at the tail moves the tail on: its taker may be dead.
        uint64_t seen = tail;
        ring_->tail.compare_exchange_strong(seen, tail + 1, std::memory_order_acq_rel);
        if (mine) break;
    }
    slot->byte_len = c.byte_len;
    slot->imm_data = c.imm_data;
    slot->qp_num = c.qp_num;
    slot->src_qp = c.src_qp;
    slot->qp_index = c.qp_index;
    slot->request = c.request;
    slot->status = c.status;
    slot->opcode = c.opcode;
    slot->flags = c.flags;
    if (ring_->channel.fd < 0) { // nobody sleeps on it
        slot->state.store(make_state(lap_of(tail), EntryPhase::full, producer),
                          std::memory_order_release);
        return Push::done;
    }
    // Either the owner, who arms and then looks, sees this entry, or we see that it has armed.
    slot->state.store(make_state(lap_of(tail), EntryPhase::full, producer),
                      std::memory_order_seq_cst);
    uint32_t armed = ring_->armed.load(std::memory_order_seq_cst);
    const bool wanted = armed == kArmedAny || (armed == kArmedSolicited && solicited);
    if (wanted && ring_->armed.compare_exchange_strong(armed, kNotArmed)) return Push::event;
    return Push::done;
}

void CompletionRingView::recover(uint64_t position, uint32_t producer) const noexcept {
    for (uint64_t p = position; p != position + size(); ++p) {
        CompletionEntry& e = entry(p);
        const uint64_t state = e.state.load(std::memory_order_acquire);
        if (state_phase(state) != EntryPhase::claimed || state_producer(state) != producer ||
            state_lap(state) != lap_of(p))
            continue;
        e.opcode = kNoCompletion;
        e.state.store(make_state(lap_of(p), EntryPhase::full, producer), std::memory_order_release);
    }
}

bool CompletionRingView::holds_receive(uint64_t position, uint32_t qpn,
                                       uint32_t request) const noexcept {
    for (uint64_t p = position; p != position + size(); ++p) {
        const CompletionEntry& e = entry(p);
        if (full(p) && e.opcode != kNoCompletion && e.opcode & kReceiveBit && e.qp_num == qpn &&
            e.request == request)
            return true;
    }
    return false;
}

} // namespace odrc::soft
