// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/domain.hpp"

#include <optional>
#include <rdma/fi_domain.h>
#include <span>

namespace odrc::ofi {

// fi_mr(3): memory that peers may read or write by its key, or that transfers name by its
// descriptor, which is nothing but the device's local key.
class MemoryRegion : public fid_mr {
public:
    using Fid = fid_mr;
    MemoryRegion(Domain& domain, const fi_mr_attr& attr); // throws Error
    ~MemoryRegion();

    // The counter counts what peers do to the region, by way of endpoints with FI_RMA_EVENT.
    // flags: FI_REMOTE_READ, FI_REMOTE_WRITE or both. 0 or a negative fi_errno; throws Error.
    int bind(Counter& counter, uint64_t flags);

    // The key as bytes, and the address at which the region begins.
    int raw(const struct fi_mr_raw_attr& out) const noexcept;

    // Pieces of the region, or none for all of it, may have other pages now. 0 or a negative
    // fi_errno.
    int refresh(std::span<const iovec> pieces) noexcept;

    std::atomic<int> leaning{0};

private:
    Domain& domain_;
    Leaning on_domain_;
    transfer::RegionTallies::Pair tallies_;
    std::optional<Leaning> on_read_, on_written_; // their counters
    const iovec memory_; // as it was asked for: of what is empty, the device has another region
    verbs::Mr region_;
    verbs::Mr on_soft_; // the same, for peers of this host; none where they are met on the device
    verbs::RegionTable::Entry in_table_;
};

extern fi_ops_mr memory_ops;

// Keys as bytes become keys again (fi_mr_map_raw, fi_mr_unmap_key): a domain's FI_MAP_RAW_MR and
// FI_UNMAP_KEY.
int control_keys(fid* domain, int command, void* argument) noexcept;

} // namespace odrc::ofi
