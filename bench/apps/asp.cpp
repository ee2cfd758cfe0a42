// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// All-pairs shortest paths (Floyd and Warshall): in each iteration all need one more row, which its
// owner broadcasts. Nobody answers, so that the owner's next rows may be under way already.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace bench;

// Of a random graph in which everybody has a way to everybody.
int length_of(int nodes, int from, int to) noexcept {
    if (from == to) return 0;
    return 1 + int(1000 * random_number(uint64_t(from) * uint64_t(nodes) + uint64_t(to)));
}

// The rows of this rank.
std::vector<int> solve(int nodes, MPI_Comm comm) {
    const Ranks ranks{comm};
    const int first = ranks.first_of(nodes), end = ranks.end_of(nodes);
    const auto width = size_t(nodes);
    std::vector<int> lengths;
    for (int from = first; from < end; ++from)
        for (int to = 0; to < nodes; ++to) lengths.push_back(length_of(nodes, from, to));
    std::vector<int> row(width);
    for (int by = 0; by < nodes; ++by) {
        const int owner = ranks.owner_of(nodes, by);
        if (owner == ranks.rank)
            std::copy_n(&lengths[size_t(by - first) * width], nodes, row.begin());
        MPI_Bcast(row.data(), nodes, MPI_INT, owner, comm);
        for (size_t from = 0; from < size_t(end - first); ++from) {
            int* const mine = &lengths[from * width];
            const int to_it = mine[by];
            for (size_t to = 0; to < width; ++to) mine[to] = std::min(mine[to], to_it + row[to]);
        }
    }
    return lengths;
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    int nodes = 512;
    CommandLine command{"All-pairs shortest paths."};
    command.option("-s,--size", nodes, "nodes of the graph");
    if (!command.read(argc, argv)) return command.status();
    const auto together = measure([&] { return solve(nodes, MPI_COMM_WORLD); });
    const auto alone = solve(nodes, MPI_COMM_SELF);
    const auto first = alone.begin() + long{nodes} * Ranks{MPI_COMM_WORLD}.first_of(nodes);
    return conclude(std::equal(together.begin(), together.end(), first));
}
