// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "softrc/process.hpp"

namespace odrc::soft {

// Until a peer is done with what it has begun, and has no processor for just now: false if it has
// died, or has not gone on for so long that it is as good as dead.
template <class F>
bool await_peer(Process& process, PeerProcess& peer, F&& is_done) noexcept {
    constexpr uint32_t kPausesPerLook = 16; // on a busy machine each may take milliseconds
    constexpr auto kPatience = std::chrono::seconds{10};
    const Time deadline = Clock::now() + kPatience;
    for (uint32_t pauses = 1; !is_done(); ++pauses) {
        if (pauses % kPausesPerLook == 0 && (peer.check_dead() || Clock::now() > deadline))
            return false;
        process.pause();
    }
    return true;
}

} // namespace odrc::soft
