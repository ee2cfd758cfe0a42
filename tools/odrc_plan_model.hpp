// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/parameters.hpp"
#include "tools/odrc_plan_costs.hpp"

#include <cstdint>
#include <string>

namespace odrc::plan {

struct Job {
    uint64_t processes;
    uint64_t per_host;
    double peers; // to whom each process talks after the start, on average; at most all others
};

// How a job's processes come to their connections.
enum class Way : uint8_t {
    ondemand, // at the first word
    all,      // beforehand, by ranges of queue pair numbers that all publish
    numbers,  // likewise, but each number is published, as MPI libraries do (Xu et al. 2024)
};
const char* name_of(Way way) noexcept;

// What a job takes.
struct Needs {
    uint64_t processes;
    Way way;
    // Why the provider would not connect all to all, though it were asked to; empty: it would. What
    // is said below it would then take.
    std::string why_not;
    bool
        by_itself; // it connects all to all without being asked to, beyond by the addresses' format

    // Seconds until the program has begun: what the processes take, making queue pairs, the
    // launcher's exchange, and connecting.
    double launch, creation, exchange, connection;
    double start() const noexcept { return launch + creation + exchange + connection; }
    double first; // and until each has had a word from each of its peers, from there

    // Of a process, when it has talked to its peers.
    uint64_t published;   // bytes
    uint64_t held;        // bytes that others have published, and it is told
    uint64_t connections; // that carry something
    uint64_t queue_pairs; // of all devices: with those that wait, are spare or take datagrams
    uint64_t memory;      // bytes
    uint64_t buffers;     // of these, for what comes in: registered when the endpoint opens
    double datagrams;     // sent for connections, from the first to the last: if none is lost, and
                          // no two processes begin at the same time

    uint64_t queue_pairs_of_host;
};

// With that device, and the provider's environment variables.
Needs needs(const Costs& costs, const Parameters& parameters, const Job& job, Way way);

} // namespace odrc::plan
