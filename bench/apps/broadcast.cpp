// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How long MPI_Bcast takes until the last rank has it, on one host, whose processes have one clock.
// bench/mpi_broadcast puts the ways side by side.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace bench;

struct Options {
    int rounds{51};
    double busy_us{0};
    std::vector<size_t> sizes{8, 1024, 8192, 65'536, 1'048'576, 4'194'304};
};

// All but the root and the last rank, which is below some of the others in every tree.
bool computes(const Ranks& ranks, const Options& options) {
    return options.busy_us > 0 && ranks.rank > 0 && ranks.rank < ranks.size - 1;
}

double once(const Ranks& ranks, const Options& options, std::vector<char>& data) {
    MPI_Barrier(ranks.comm);
    const double begin = MPI_Wtime();
    if (computes(ranks, options))
        while ((MPI_Wtime() - begin) * 1e6 < options.busy_us) {
        }
    MPI_Bcast(data.data(), int(data.size()), MPI_CHAR, 0, ranks.comm);
    const double end = computes(ranks, options) ? 0 : MPI_Wtime();
    double first = begin, last = 0;
    MPI_Bcast(&first, 1, MPI_DOUBLE, 0, ranks.comm); // the root's
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, ranks.comm);
    return last - first;
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"Microseconds until the last rank has a broadcast: ranks, bytes, median."};
    command.option("-r,--rounds", options.rounds);
    command.option("-s,--sizes", options.sizes).with_commas();
    command.option(
        "-b,--busy", options.busy_us,
        "All but the root and the last rank compute for so many microseconds before they "
        "begin; when the last rank has it counts");
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    for (const size_t size : options.sizes) {
        std::vector<char> data(size);
        once(ranks, options, data); // they meet
        std::vector<double> times;
        for (int round = 0; round < options.rounds; ++round)
            times.push_back(once(ranks, options, data) * 1e6);
        std::ranges::nth_element(times, times.begin() + options.rounds / 2);
        if (ranks.rank != 0) continue;
        std::printf("%d\t%zu\t%.1f\n", ranks.size, size, times[size_t(options.rounds / 2)]);
        std::fflush(stdout);
    }
    return 0;
}
