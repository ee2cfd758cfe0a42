// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "srq/receive_queue.hpp"
#include "srq/ring.hpp"

namespace odrc::srq {

// What the memory of an endpoint's buffers is for (FI_ODRC_MEMORY). Half of it is for receives,
// a quarter for messages that have come before theirs, a sixteenth for rings, and the rest for what
// goes out. On a device that delivers (verbs::Port) messages of some KiB go into rings, and little
// is copied on its way out: one ring, which the only peer of many programs has, is twice as long.
struct MemoryBudget {
    size_t bytes;
    bool delivers{false};

    // devices: over which there are receives.
    ReceiveQueue::Depth receives(size_t buffer_size, size_t devices) const noexcept {
        const size_t most =
            std::clamp(bytes / 2 / devices / buffer_size, kFewestReceives, kMostReceives);
        return {static_cast<uint32_t>(std::min(most, kFirstReceives)), static_cast<uint32_t>(most)};
    }
    // Of peers that are seldom talked to.
    ReceiveQueue::Depth receives_by_datagrams(size_t buffer_size) const noexcept {
        return receives(buffer_size, 8);
    }
    size_t unexpected() const noexcept { return bytes / 4; }
    // Copies of frames on their way out, at a time.
    size_t sends(size_t buffer_size) const noexcept {
        const size_t longer = rings().longest - kRing;
        return std::max((bytes / 8 - std::min(bytes / 8, longer)) / buffer_size, kFewestSends);
    }
    RingShare rings() const noexcept {
        return {.count = bytes / 16 / kRing, .bytes = kRing, .longest = (delivers ? 2 : 1) * kRing};
    }

    static constexpr size_t kRing = size_t{32} << 10;
    static constexpr size_t kFewestReceives = 16;
    static constexpr size_t kFirstReceives = 256;
    static constexpr size_t kFewestSends = 8;
    static constexpr size_t kMostReceives = 8192;
};

} // namespace odrc::srq
