// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/region_counters.hpp"

#include "ofi/endpoint.hpp"

#include <algorithm>

namespace odrc::ofi {

void RegionCounters::add(Endpoint& endpoint) {
    const std::lock_guard lock{mutex_};
    endpoints_.push_back(&endpoint);
    for (Counter* counter : counters_) counter->attach(endpoint);
}

void RegionCounters::remove(Endpoint& endpoint) noexcept {
    const std::lock_guard lock{mutex_};
    std::erase(endpoints_, &endpoint);
    for (Counter* counter : counters_) counter->detach(endpoint);
}

// It stays when its regions are closed: until it is closed itself it may be bound to others.
void RegionCounters::add(Counter& counter) {
    const std::lock_guard lock{mutex_};
    if (std::ranges::find(counters_, &counter) != counters_.end()) return;
    counters_.push_back(&counter);
    for (Endpoint* endpoint : endpoints_) counter.attach(*endpoint);
}

void RegionCounters::remove(Counter& counter) noexcept {
    const std::lock_guard lock{mutex_};
    std::erase(counters_, &counter);
}

} // namespace odrc::ofi
