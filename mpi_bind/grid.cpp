// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "grid.hpp"

#include "mpi.h"

namespace odrc::mpi {

int Grid::size() const noexcept {
    int size = 1;
    for (const Dimension& d : dimensions) size *= d.size;
    return size;
}

int Grid::rank_of(std::span<const int> coordinates) const noexcept {
    int rank = 0;
    for (size_t i = 0; i < dimensions.size(); ++i) {
        const Dimension& d = dimensions[i];
        int c = coordinates[i];
        if (d.periodic) c = (c % d.size + d.size) % d.size;
        if (c < 0 || c >= d.size) return MPI_PROC_NULL;
        rank = rank * d.size + c;
    }
    return rank;
}

std::vector<int> Grid::coordinates_of(int rank) const {
    std::vector<int> coordinates(dimensions.size());
    for (size_t i = dimensions.size(); i-- > 0;) {
        coordinates[i] = rank % dimensions[i].size;
        rank /= dimensions[i].size;
    }
    return coordinates;
}

} // namespace odrc::mpi
