// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What single MPI calls take: there and back between two ranks, and broadcasts, each of which the
// next rank begins when it has the one before. See bench/layers.

#include "bench/apps/app.hpp"

#include <vector>

namespace {

using namespace bench;

struct Options {
    int times{2000};
    int bytes{32768}; // where it is throughput that counts
};

double seconds(int times, const auto& body) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < times; ++i) body(i);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

void there_and_back(const Ranks& ranks) {
    char byte = 0;
    const int other = 1 - ranks.rank;
    if (ranks.rank > 1) return;
    if (ranks.rank == 0) MPI_Send(&byte, 1, MPI_CHAR, other, 0, ranks.comm);
    MPI_Recv(&byte, 1, MPI_CHAR, other, 0, ranks.comm, MPI_STATUS_IGNORE);
    if (ranks.rank == 1) MPI_Send(&byte, 1, MPI_CHAR, other, 0, ranks.comm);
}

void one_way(const Ranks& ranks, std::vector<char>& data) {
    if (ranks.rank == 0) MPI_Send(data.data(), int(data.size()), MPI_CHAR, 1, 0, ranks.comm);
    if (ranks.rank == 1)
        MPI_Recv(data.data(), int(data.size()), MPI_CHAR, 0, 0, ranks.comm, MPI_STATUS_IGNORE);
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"What single MPI calls take."};
    command.option("-i,--iterations", options.times);
    command.option("-s,--size", options.bytes);
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    if (ranks.size < 2) return std::fprintf(stderr, "there is nobody to talk to\n"), 1;
    std::vector<char> data(size_t(options.bytes));
    const auto report = [&](const char* name, double figure, const char* unit) {
        if (ranks.rank == 0) std::printf("%s %.4g %s\n", name, figure, unit);
    };
    const auto mega = [&](double time) {
        return double(options.bytes) * options.times / time / 1e6;
    };
    const auto micro = [&](double time) { return time / options.times * 1e6; };
    const auto broadcast = [&](int bytes) {
        return seconds(options.times, [&](int i) {
            MPI_Bcast(data.data(), bytes, MPI_CHAR, i % ranks.size, ranks.comm);
        });
    };
    seconds(100, [&](int) { there_and_back(ranks); }); // they meet
    broadcast(1);
    report("send.latency", micro(seconds(options.times, [&](int) { there_and_back(ranks); })),
           "us");
    report("send.throughput", mega(seconds(options.times, [&](int) { one_way(ranks, data); })),
           "MB/s");
    report("broadcast.latency", micro(broadcast(1)), "us");
    report("broadcast.throughput", mega(broadcast(options.bytes)), "MB/s");
    return 0;
}
