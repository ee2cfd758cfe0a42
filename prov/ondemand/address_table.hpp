// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/address.hpp"

#include <atomic>
#include <mutex>
#include <rdma/fabric.h>
#include <vector>

namespace odrc::ondemand {

// The addresses of an address vector (fi_av(3)). An address that is never used costs an entry
// here, of 32 bytes and a place or two in the index, and nothing else.
class AddressTable {
public:
    // Inserting an address again gives it another number, as FI_AV_TABLE promises: numbers are
    // handed out in order, and again after a removal. Throws std::bad_alloc.
    fi_addr_t insert(const Address& address);

    bool remove(fi_addr_t fi_addr) noexcept;
    std::optional<Address> at(fi_addr_t fi_addr) const noexcept;

    // A number under which the address stands, or FI_ADDR_NOTAVAIL.
    fi_addr_t find(const Address& address) const noexcept;

    // Changes whenever the table does.
    uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

private:
    struct Entry {
        Address address; // AF_UNSPEC: removed
        uint32_t next_free;
    };
    static constexpr uint32_t kNone = ~0u;

    size_t mask() const noexcept { return index_.size() - 1; }
    void add_to_index(uint32_t number) noexcept;
    void remove_from_index(uint32_t number) noexcept;
    void grow_index();

    mutable std::mutex mutex_;
    std::atomic<uint64_t> generation_{1};
    std::vector<Entry> entries_;
    uint32_t first_free_{kNone};
    size_t live_{0};
    std::vector<uint32_t> index_; // by hash, open addressing, at most half full
};

} // namespace odrc::ondemand
