// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the programs of this folder have in common: MPI and nothing else, and a check of the result.

#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/content.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mpi.h>

namespace bench {

using fabtests_ext::CommandLine;

class Mpi {
public:
    Mpi(int& argc, char**& argv) { MPI_Init(&argc, &argv); }
    ~Mpi() { MPI_Finalize(); }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;
};

// A process among those that solve something together, or alone: the same program on MPI_COMM_SELF
// is the sequential one.
struct Ranks {
    explicit Ranks(MPI_Comm all)
        : comm{all} {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
    }

    // Which of so many things a rank has: a contiguous part.
    int first_of(int count, int of_rank) const noexcept {
        return int(int64_t{count} * of_rank / size);
    }
    int first_of(int count) const noexcept { return first_of(count, rank); }
    int end_of(int count) const noexcept { return first_of(count, rank + 1); }
    int owner_of(int count, int thing) const noexcept {
        return int((int64_t{thing + 1} * size - 1) / count);
    }

    MPI_Comm comm;
    int rank{0}, size{1};
};

// Runs what all do at the same time, says how long the last one took, and gives the result.
template <class Body>
auto measure(Body&& body) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    auto result = body();
    MPI_Barrier(MPI_COMM_WORLD);
    if (Ranks{MPI_COMM_WORLD}.rank == 0) std::printf("time %.6f\n", MPI_Wtime() - begin);
    return result;
}

// What a program ends with, given whether its part of the result is what one process alone has.
inline int conclude(bool right) {
    const int mine = !right;
    int wrong = 0;
    if (!right) std::fprintf(stderr, "another result than that of one process\n");
    MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong != 0;
}

// A number from 0 to 1.
inline double random_number(uint64_t id) noexcept {
    return double(fabtests_ext::scramble(id) >> 11) * 0x1p-53;
}

} // namespace bench
