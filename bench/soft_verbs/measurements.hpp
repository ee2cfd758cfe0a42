// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "bench/soft_verbs/side.hpp"

namespace bench {

struct Options {
    int batches{50};
    int iterations{10'000};
};

// Both processes call these; the first reports.
void write_latency(Team& team, const Options& options);
void send_latency(Team& team, const Options& options);
void send_rate(Team& team, const Options& options);
void bandwidth(Team& team, const Options& options);

} // namespace bench
