// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "verbs_rc/creation.hpp"

namespace odrc::ondemand {

// Queue pairs that wait in INIT for whoever comes next: a peer that finds one there is answered
// after two calls to the device, to RTR and to RTS.
//
// Who never had a lane has none; later there are as many as were taken, up to a few. They are made
// one by one when no lane has been wanted for a moment, so that nobody waits for it. A queue pair
// that has been connected does not come back: what it was for the device, its completions, its last
// packets, its errors, ends with it.
class SpareQueues {
public:
    // Who comes by itself finds one, and so do the first of many who come at once; the others wait
    // for each other anyway. What lies idle is little beside what the lanes take.
    static constexpr size_t kMost = 4;

    explicit SpareQueues(const verbs::QueuePairKind& kind) noexcept
        : kind_{kind} {}

    const verbs::QueuePairKind& kind() const noexcept { return kind_; }
    uint32_t count() const noexcept { return static_cast<uint32_t>(spares_.size()); }

    // A spare one, or one that is made now. Throws Error.
    verbs::QueuePair take();

    // When the next one is to be made, if there is room for it.
    Time due() const noexcept { return spares_.size() < wanted_ ? due_ : kNever; }
    void make_one() noexcept;
    // Makes room for something else.
    void drop_one() noexcept { spares_.pop_back(); }

private:
    verbs::QueuePair make() const {
        return {kind_.adapter, kind_.cq, kind_.srq, kind_.depth, kind_.access};
    }

    const verbs::QueuePairKind kind_;
    std::vector<verbs::QueuePair> spares_;
    size_t wanted_{0};
    Time due_{};
};

} // namespace odrc::ondemand
