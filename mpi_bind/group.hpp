// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "handle.hpp"

#include <span>
#include <vector>

namespace odrc::mpi {

// Processes in an order (MPI 6.2.1), each by its rank in the world.
class Group : public Counted {
public:
    static Ref<Group> make(std::vector<int> ranks) {
        auto* group = new Group{std::move(ranks)};
        Ref<Group> ref{*group};
        group->release(); // the one it was made with
        return ref;
    }
    static Group* of(MPI_Group handle) noexcept; // null: there is none
    // For a program to have, which frees it.
    MPI_Group handle() noexcept;

    int size() const noexcept { return static_cast<int>(ranks_.size()); }
    int world_rank(int rank) const noexcept { return ranks_[static_cast<size_t>(rank)]; }
    std::span<const int> ranks() const noexcept { return ranks_; }
    // MPI_UNDEFINED: it is no member.
    int rank_of(int world_rank) const noexcept;

private:
    explicit Group(std::vector<int> ranks)
        : ranks_{std::move(ranks)} {}

    std::vector<int> ranks_;
};

} // namespace odrc::mpi
