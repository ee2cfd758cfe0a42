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
