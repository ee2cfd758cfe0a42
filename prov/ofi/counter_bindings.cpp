// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/counter_bindings.hpp"

#include <algorithm>

namespace odrc::ofi {
namespace {

// What a flag has counted, in the order of CounterBindings.
struct Kind {
    uint64_t flag;
    transfer::Tally* transfer::Tallies::*tally;
};
constexpr std::array kKindsOfOperations{
    Kind{FI_SEND, &transfer::Tallies::sent},
    Kind{FI_RECV, &transfer::Tallies::received},
    Kind{FI_READ, &transfer::Tallies::read},
    Kind{FI_WRITE, &transfer::Tallies::written},
    Kind{FI_REMOTE_READ, &transfer::Tallies::read_by_peers},
    Kind{FI_REMOTE_WRITE, &transfer::Tallies::written_by_peers},
};

constexpr uint64_t all_flags() noexcept {
    uint64_t flags = 0;
    for (const Kind& kind : kKindsOfOperations) flags |= kind.flag;
    return flags;
}

} // namespace

int CounterBindings::check(uint64_t flags) const noexcept {
    static_assert(kKindsOfOperations.size() == kKinds);
    if (!flags || flags & ~all_flags()) return -FI_EINVAL;
    for (size_t i = 0; i < kKinds; ++i)
        if (flags & kKindsOfOperations[i].flag && counters_[i]) return -FI_EINVAL;
    return 0;
}

void CounterBindings::bind(Counter& counter, uint64_t flags) noexcept {
    for (size_t i = 0; i < kKinds; ++i) {
        if (!(flags & kKindsOfOperations[i].flag)) continue;
        counters_[i] = &counter;
        on_counters_[i].emplace(counter.leaning);
    }
}

transfer::Tallies CounterBindings::tallies() const noexcept {
    transfer::Tallies tallies;
    for (size_t i = 0; i < kKinds; ++i)
        if (counters_[i]) tallies.*kKindsOfOperations[i].tally = &counters_[i]->tally();
    return tallies;
}

bool CounterBindings::waitable() const noexcept {
    return std::ranges::any_of(counters_, [](const Counter* c) { return c && c->waitable(); });
}

void CounterBindings::attach(Endpoint& endpoint) {
    for (Counter* counter : counters_)
        if (counter) counter->attach(endpoint);
}

void CounterBindings::detach(Endpoint& endpoint) noexcept {
    for (Counter* counter : counters_)
        if (counter) counter->detach(endpoint);
}

} // namespace odrc::ofi
