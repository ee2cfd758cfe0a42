// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace odrc {

// A connection that takes its time.
struct StallSeen {
    std::string peer, state;
    uint32_t datagrams;
    std::chrono::nanoseconds age;
};

// An endpoint of another process, or of this one, as its page said (statistics_page.hpp).
struct EndpointSeen {
    pid_t pid;
    std::string command, device, address;
    int64_t opened_ns; // tells it from others of its process
    Counters counters;
    std::vector<StallSeen> stalls;
};

// All endpoints of this user's processes on this host, or of one process, in the order of their
// processes. Those of another version of the provider are not seen. Throws std::bad_alloc.
std::vector<EndpointSeen> see_endpoints(pid_t of = 0);

} // namespace odrc
