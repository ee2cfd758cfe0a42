// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <span>
#include <vector>

namespace odrc::mpi {

// MPI 7.1: a group's ranks as a grid, the last dimension closest together.
struct Grid {
    struct Dimension {
        int size;
        bool periodic;
    };
    std::vector<Dimension> dimensions;

    int rank_of(std::span<const int> coordinates) const noexcept; // MPI_PROC_NULL: outside
    std::vector<int> coordinates_of(int rank) const;
    int size() const noexcept;
};

} // namespace odrc::mpi
