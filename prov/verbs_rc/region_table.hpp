// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace odrc::verbs {

// The memory that the application has opened to its peers, by the key that they name it by. The
// device has a table of its own for what it does itself; this one is for what we do for a peer.
class RegionTable {
public:
    struct Region {
        uint64_t address;
        uint64_t length;
        int access; // IBV_ACCESS_*
    };

    // A region stands in the table for as long as its entry lives. Its end waits for those who use
    // the table at that time.
    class Entry {
    public:
        Entry(RegionTable& table, uint32_t key, const Region& region);
        ~Entry();
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

    private:
        RegionTable& table_;
        const uint32_t key_;
    };

    // While it is held, no region goes.
    using Hold = std::shared_lock<std::shared_mutex>;
    Hold hold() const { return Hold{mutex_}; }

    // Whether the key gives that access to all of these bytes. While held.
    bool allows(uint32_t key, uint64_t address, uint64_t length, int access) const noexcept;

private:
    mutable std::shared_mutex mutex_;
    std::unordered_map<uint32_t, Region> regions_;
};

} // namespace odrc::verbs
