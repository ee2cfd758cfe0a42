// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "group.hpp"

#include <algorithm>

namespace odrc::mpi {

Group* Group::of(MPI_Group handle) noexcept {
    static Group& empty = *new Group{{}}; // never destroyed
    if (handle == MPI_GROUP_EMPTY) return &empty;
    return number_of(handle) < kFirstAddress ? nullptr : reinterpret_cast<Group*>(handle);
}

MPI_Group Group::handle() noexcept {
    if (ranks_.empty()) return MPI_GROUP_EMPTY;
    use();
    return reinterpret_cast<MPI_Group>(this);
}

int Group::rank_of(int world_rank) const noexcept {
    // Most groups are the world, or some of it in its order.
    const auto here = static_cast<size_t>(world_rank);
    if (here < ranks_.size() && ranks_[here] == world_rank) return world_rank;
    const auto found = std::ranges::find(ranks_, world_rank);
    return found == ranks_.end() ? MPI_UNDEFINED : static_cast<int>(found - ranks_.begin());
}

} // namespace odrc::mpi
