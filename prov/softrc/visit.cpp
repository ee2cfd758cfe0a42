// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/visit.hpp"

namespace odrc::soft {

Visit::Visit(const NodeMember& node, const PeerProcess& host, uint32_t qp_number) noexcept {
    static std::atomic<uint32_t> count{0};
    const uint32_t mine = count.fetch_add(1, std::memory_order_relaxed) + 1;
    const VisitorId who = node.identity() | (mine == 0 ? 1 : mine);
    // Neighbouring processes begin their search at different places.
    for (uint32_t i = 0; i < kMaxVisitors; ++i) {
        const uint32_t index = (node.slot() + i) % kMaxVisitors;
        Visitor& place = host.arena().header().visitors[index];
        VisitorId nobody = 0;
        if (place.who.load(std::memory_order_relaxed) != 0 ||
            !place.who.compare_exchange_strong(nobody, who, std::memory_order_seq_cst))
            continue;
        place.qpn.store(qp_number, std::memory_order_relaxed);
        place_ = &place;
        number_ = kFirstVisitorNumber + index;
        return;
    }
}

} // namespace odrc::soft
