// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"

#include <rdma/fi_collective.h>

namespace odrc::mpi {

// Endpoints to all of which the provider broadcasts (fi_collective(3)): it passes on what comes
// while the program computes, if it makes progress then.
class FabricGroup {
public:
    // Joins, as all members do at once.
    FabricGroup(Fabric& fabric, std::span<const fi_addr_t> members);

    fi_addr_t address() const noexcept { return fi_mc_addr(group_.get()); }

private:
    Fabric::Owned<fid_av_set> members_;
    Fabric::Owned<fid_mc> group_;
};

} // namespace odrc::mpi
