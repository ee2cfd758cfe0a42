// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/spin_lock.hpp"

#include <infiniband/verbs.h>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace odrc::host {

// What is registered here, by the keys of the device below. It is this process that reads and
// writes in the peers' stead, and checks what a NIC would check (IBTA 1.4, 10.6.3); and what goes
// out as a datagram is checked first, for the device would stop them all for one that has no right.
class Regions {
public:
    struct Region {
        ibv_pd* pd;
        uint64_t address;
        uint64_t length;
        int access; // IBV_ACCESS_*
        uint32_t lkey;
    };

    // Throws std::bad_alloc.
    void add(const ibv_mr& mr, int access) {
        const std::lock_guard guard{lock_};
        const Region region{mr.pd, reinterpret_cast<uint64_t>(mr.addr), mr.length, access, mr.lkey};
        by_rkey_.insert_or_assign(mr.rkey, region);
        by_lkey_.insert_or_assign(mr.lkey, region);
    }
    void remove(const ibv_mr& mr) noexcept {
        const std::lock_guard guard{lock_};
        by_rkey_.erase(mr.rkey);
        by_lkey_.erase(mr.lkey);
    }

    // None, where the region does not have all of these bytes, or not that access.
    std::optional<Region> find(const ibv_pd* pd, uint32_t rkey, uint64_t address, uint64_t length,
                               int access) const noexcept {
        return find(by_rkey_, pd, rkey, address, length, access);
    }
    bool has(const ibv_pd* pd, const ibv_sge& s, int access) const noexcept {
        return s.length == 0 || find(by_lkey_, pd, s.lkey, s.addr, s.length, access);
    }

private:
    using Table = std::unordered_map<uint32_t, Region>;

    std::optional<Region> find(const Table& table, const ibv_pd* pd, uint32_t key, uint64_t address,
                               uint64_t length, int access) const noexcept {
        const std::lock_guard guard{lock_};
        const auto found = table.find(key);
        if (found == table.end()) return std::nullopt;
        const Region& r = found->second;
        const uint64_t offset = address - r.address;
        const bool inside =
            address >= r.address && offset <= r.length && length <= r.length - offset;
        if (r.pd != pd || (r.access & access) != access || !inside) return std::nullopt;
        return r;
    }

    mutable SpinLock lock_;
    Table by_rkey_;
    Table by_lkey_;
};

} // namespace odrc::host
