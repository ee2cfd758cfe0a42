// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace odrc::transfer {

// What the watchdog looks after in an endpoint, and when.
struct Watch {
    bool flooded{false};   // by datagrams, more than it takes at a time
    bool probing{false};   // peers that owe an answer, and what was injected
    Time probe_at{kNever}; // then
    uint64_t posts_then{0};
    bool looking{false};  // peers that something waits for
    Time look_at{kNever}; // then
    Clock::duration look_every{};
    Time arm_receives_at{kNever}; // receives are to tell again when they run low

    Time next() const noexcept { return std::min({probe_at, look_at, arm_receives_at}); }
};

} // namespace odrc::transfer
