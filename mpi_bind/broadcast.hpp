// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "broadcast_way.hpp"
#include "datatype.hpp"

namespace odrc::mpi {

class Communicator;
class FabricGroup;

// What is in one piece, and more than nothing, from the root to all members. Each gives an error
// class.
int broadcast_along(Tree tree, size_t packet, const Data& data, int root,
                    Communicator& communicator);
int broadcast_by_parts(const Data& data, int root, Communicator& communicator);

// What a communicator knows of its broadcasts from the first one on.
class BroadcastPlan {
public:
    // All members do this at once: they join a group, if the provider has groups and they are few.
    explicit BroadcastPlan(Communicator& communicator);
    ~BroadcastPlan();
    BroadcastPlan(const BroadcastPlan&) = delete;
    BroadcastPlan& operator=(const BroadcastPlan&) = delete;

    // The same at all members, who ask at once: they may measure what messages take first.
    const BroadcastWay& way_for(size_t bytes);
    FabricGroup* group() const noexcept { return group_; } // null: there is none

private:
    Communicator& communicator_;
    FabricGroup* const group_;
    std::optional<LinkCosts> costs_;
    size_t bytes_{0}; // of the last one, and its way
    BroadcastWay way_{.kind = BroadcastWay::Kind::tree};
};

} // namespace odrc::mpi
