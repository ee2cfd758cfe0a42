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

    // What one operation of a peer has done to a region: an atomic that fetches may be both.
    struct Access {
        bool read, written;
    };
    // Once, for either tally that wants to know, or for one that is both.
    void count(uint32_t key, Access access) noexcept;

private:
    std::mutex mutex_;
    std::unordered_map<uint32_t, Pair> regions_;
};

} // namespace odrc::transfer
