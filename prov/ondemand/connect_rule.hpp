// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/parameters.hpp"
#include "base/place_in_job.hpp"

#include <chrono>
#include <string>

namespace odrc::ondemand {

// What a queue pair takes, with its send queue, on any device: at the most.
inline constexpr size_t kBytesOfQueuePair = size_t{64} << 10;

// How many queue pairs an endpoint may have: as many as is wanted (0: its share) of what the device
// has, which the processes of this host share.
uint32_t most_queue_pairs(int device, size_t wanted, size_t processes_here) noexcept;

// How many peers have connections from the first word on. Those that come when there are so many
// begin by datagrams.
uint32_t connected_at_once(Reliability reliability) noexcept;

// Whether an endpoint makes its queue pairs beforehand, and why: what FI_ODRC_CONNECT=auto decides,
// and what stands against it where it is asked for.
struct Choice {
    bool all;
    std::string why;
};

struct Circumstances {
    Connect wish;
    PlaceInJob place;
    uint32_t most_lanes;
    size_t processes_here; // of the job, on this host: they take turns
    bool by_datagrams;     // verbs::Port::by_datagrams
};

// Before any is made; and when it is known how long one takes.
Choice choose(const Circumstances& c);
Choice choose(const Circumstances& c, std::chrono::nanoseconds each);

} // namespace odrc::ondemand
