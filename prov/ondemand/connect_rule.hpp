// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/parameters.hpp"
#include "base/place_in_job.hpp"

#include <chrono>
#include <string>

namespace odrc::ondemand {

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
