// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/queue_pair.hpp"

#include <chrono>
#include <vector>

namespace odrc::verbs {

// Many queue pairs at once, all alike.
struct QueuePairKind {
    Adapter& adapter;
    ibv_cq* cq;
    ibv_srq* srq;
    QueuePair::Depth depth;
    int access; // of peers (IBV_ACCESS_*)
};

// Adds so many, in as many threads; the order is as it comes. Throws Error, and has added nothing
// then.
void create(const QueuePairKind& kind, size_t count, size_t threads,
            std::vector<QueuePair>& queue_pairs);

// What one takes, seen on a few that go again.
struct Cost {
    std::chrono::nanoseconds creation, connection;
};
Cost cost_of_one(const QueuePairKind& kind); // throws Error

// How many threads pay for so many: as many as there are processors that this process may use, if
// each has enough to do. Where a queue pair is made by a call of the kernel, they do; those of
// soft0 are made in less time than threads take to get into each other's way.
size_t threads_for(size_t count, std::chrono::nanoseconds creation) noexcept;
size_t threads_for(size_t count, std::chrono::nanoseconds creation, size_t processors) noexcept;

} // namespace odrc::verbs
