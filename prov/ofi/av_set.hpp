// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/address_vector.hpp"

#include <mutex>
#include <rdma/fi_collective.h>
#include <vector>

namespace odrc::ofi {

// fi_av_set(3): some numbers of an address vector, each once, in an order that the application
// gives them.
class AvSet : public fid_av_set {
public:
    using Fid = fid_av_set;
    AvSet(AddressVector& addresses, const fi_av_set_attr& attr, void* context); // throws Error

    const AddressVector& addresses() const noexcept { return addresses_; }
    fi_addr_t address() const noexcept { return address_; }
    std::vector<fi_addr_t> numbers() const; // throws std::bad_alloc

    int insert(fi_addr_t number);
    int remove(fi_addr_t number) noexcept;
    int unite(const AvSet& other);
    // Keeps those that the other has, or has not.
    int keep(const AvSet& other, bool common);

    std::atomic<int> leaning{0};

private:
    bool has(fi_addr_t number) const noexcept;

    Leaning on_addresses_;
    const AddressVector& addresses_;
    const fi_addr_t address_; // stands for the set in joins
    mutable std::mutex mutex_;
    std::vector<fi_addr_t> numbers_;
};

// The entry of fi_ops_av.
int open_av_set(fid_av* av, fi_av_set_attr* attr, fid_av_set** set, void* context);

} // namespace odrc::ofi
