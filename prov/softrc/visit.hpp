// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/node.hpp"
#include "softrc/peer_process.hpp"

namespace odrc::soft {

// A sender's stay in another process while it delivers a datagram there, or finds the way to a
// queue pair. That process waits for the end of all stays before it takes memory away, and clears
// up after a visitor that died.
class Visit {
public:
    // Empty when all places are taken, which only a crowd of processes can bring about.
    Visit(const NodeMember& node, const PeerProcess& host, uint32_t qp_number) noexcept;
    ~Visit() {
        if (place_) place_->who.store(0, std::memory_order_release);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    explicit operator bool() const noexcept { return place_ != nullptr; }
    // What stands for the visitor in tickets and completions.
    uint32_t number() const noexcept { return number_; }
    std::atomic<uint32_t>& holds() const noexcept { return place_->holds; }

private:
    Visitor* place_{nullptr};
    uint32_t number_{0};
};

// Calls over(place, number) for each visitor of this process that died while it was here.
template <class F>
void clear_visitors(const NodeMember& node, Arena& arena, F&& over) noexcept {
    for (uint32_t i = 0; i < kMaxVisitors; ++i) {
        Visitor& place = arena.visitors[i];
        VisitorId who = place.who.load(std::memory_order_acquire);
        if (who == 0 || node.alive(who)) continue;
        over(place, kFirstVisitorNumber + i);
        place.holds.store(0, std::memory_order_relaxed);
        place.who.compare_exchange_strong(who, 0);
    }
}

// Returns when every visitor that was here at the call has left, or was cleared. Calls
// wait(spins) meanwhile.
template <class F>
void wait_for_visitors(const Arena& arena, F&& wait) noexcept {
    for (const Visitor& place : arena.visitors) {
        const VisitorId who = place.who.load(std::memory_order_seq_cst);
        if (who == 0) continue;
        for (uint32_t spins = 1; place.who.load(std::memory_order_acquire) == who; ++spins)
            wait(spins);
    }
}

} // namespace odrc::soft
