// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/tally.hpp"

#include <unordered_map>

namespace odrc::transfer {

// What counts the peers' reads and writes of single regions of memory, by the region's key: one
// for all endpoints of a domain. May be called by several threads at once; where tallies are not
// locked, inside the domain's gate.
class RegionTallies {
public:
    // Null where nobody wants to know.
    struct Pair {
        Tally* read{nullptr};
        Tally* written{nullptr};
    };

    void set(uint32_t key, const Pair& pair); // throws std::bad_alloc
    void forget(uint32_t key) noexcept;       // neither tally is touched from then on

    // A peer has read or written the region (which: &Pair::read or &Pair::written).
    void count(uint32_t key, Tally* Pair::*which) noexcept;

private:
    std::mutex mutex_;
    std::unordered_map<uint32_t, Pair> regions_;
};

} // namespace odrc::transfer
