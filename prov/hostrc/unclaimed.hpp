// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "hostrc/kept_packet.hpp"

#include <deque>

namespace odrc::host {

// First words that came before their connection was made: a few are kept, the oldest go first.
// Whoever sent one that is lost here sends it again.
class Unclaimed {
public:
    // Gives how many are lost by that.
    size_t keep(const Datagrams::Arrival& arrival) noexcept {
        if (guarded([&] { return kept_.emplace_back(arrival), 0; })) return 1;
        if (kept_.size() <= kMost) return 0;
        kept_.pop_front();
        return 1;
    }

    // claims(Arrival) takes it, or gives false.
    template <class F>
    void claim(F&& claims) noexcept {
        std::erase_if(kept_, [&](const KeptPacket& k) { return claims(k.arrival()); });
    }

private:
    // A window's worth from each of a few, of packets of up to a few kilobytes.
    static constexpr size_t kMost = 64;

    std::deque<KeptPacket> kept_;
};

} // namespace odrc::host
