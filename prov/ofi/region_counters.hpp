// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/region_tallies.hpp"

#include <vector>

namespace odrc::ofi {

class Counter;
class Endpoint;

// The counters that are bound to memory regions of a domain (fi_mr(3)), and the endpoints that
// count for them, those with FI_RMA_EVENT: who reads one of the counters makes the progress of
// all these endpoints.
class RegionCounters {
public:
    transfer::RegionTallies& tallies() noexcept { return tallies_; }

    void add(Endpoint& endpoint); // throws Error; to be removed even so
    void remove(Endpoint& endpoint) noexcept;
    void add(Counter& counter); // likewise; again and again, if need be
    void remove(Counter& counter) noexcept;

private:
    transfer::RegionTallies tallies_;
    std::mutex mutex_;
    std::vector<Endpoint*> endpoints_;
    std::vector<Counter*> counters_;
};

} // namespace odrc::ofi
