// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How long MPI_Init takes, of the slowest rank, and then until each rank has heard from all others.
// See bench/mpi_startup.

#include "bench/apps/app.hpp"

#include <chrono>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void report(const char* name, double mine) {
    double most = 0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (bench::Ranks{MPI_COMM_WORLD}.rank == 0) std::printf("%s %.6f\n", name, most);
}

} // namespace

int main(int argc, char** argv) {
    const auto begin = Clock::now();
    const bench::Mpi mpi{argc, argv};
    const double init = seconds_since(begin);
    const bench::Ranks ranks{MPI_COMM_WORLD};
    MPI_Barrier(MPI_COMM_WORLD);
    const auto met = Clock::now();
    std::vector<char> out(size_t(ranks.size)), in(size_t(ranks.size));
    MPI_Alltoall(out.data(), 1, MPI_CHAR, in.data(), 1, MPI_CHAR, MPI_COMM_WORLD);
    const double all = seconds_since(met);
    report("init", init);
    report("all_to_all", all);
    return 0;
}
