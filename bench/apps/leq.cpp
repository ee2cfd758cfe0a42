// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Iterative linear equations (Jacobi) with the vector replicated: in each iteration everybody
// broadcasts its part of the next one, and all agree on how much it changed.

#include "bench/apps/app.hpp"
#include "bench/problems/linear_system.hpp"

#include <utility>

namespace {

using namespace bench;

Solution solve(const LinearSystem& system, const Ranks& ranks) {
    const int size = int(system.size());
    Solution solution{std::vector<double>(system.size())};
    const int first = ranks.first_of(size), end = ranks.end_of(size);
    std::vector<double> next(system.size());
    for (double change = 1; change > kPrecision; ++solution.iterations) {
        double mine = 0;
        for (int i = first; i < end; ++i) {
            next[size_t(i)] = system.improve(solution.x, size_t(i));
            mine = std::max(mine, std::abs(next[size_t(i)] - solution.x[size_t(i)]));
        }
        for (int root = 0; root < ranks.size; ++root) {
            const int from = ranks.first_of(size, root);
            MPI_Bcast(&next[size_t(from)], ranks.first_of(size, root + 1) - from, MPI_DOUBLE, root,
                      ranks.comm);
        }
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, ranks.comm);
        std::swap(solution.x, next);
    }
    return solution;
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    size_t equations = 512;
    CommandLine command{"Linear equations, with simultaneous broadcasts of a replicated vector."};
    command.option("-s,--size", equations);
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    const LinearSystem system{equations, 1};
    const Solution together = measure([&] { return solve(system, ranks); });
    return conclude(together == solve_alone(system));
}
