// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/counter.hpp"

#include <array>

namespace odrc::ofi {

// The counters of one endpoint: at most one for each kind of operation (fi_ep_bind(3)).
class CounterBindings {
public:
    // flags: the kinds that a counter is to count. 0, or a negative fi_errno: it cannot be bound.
    int check(uint64_t flags) const noexcept;
    void bind(Counter& counter, uint64_t flags) noexcept;

    transfer::Tallies tallies() const noexcept;
    bool waitable() const noexcept;

    void attach(Endpoint& endpoint); // throws Error
    void detach(Endpoint& endpoint) noexcept;

private:
    static constexpr size_t kKinds = 6;

    std::array<Counter*, kKinds> counters_{};
    std::array<std::optional<Leaning>, kKinds> on_counters_;
};

} // namespace odrc::ofi
