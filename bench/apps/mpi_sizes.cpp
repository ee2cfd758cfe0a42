// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What MPI calls take by size: messages between the first two ranks, or collectives of all. See
// bench/mpi.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace bench;

constexpr int kWindow = 64; // messages under way
constexpr int kWarm = 5000; // until all is as it stays
constexpr size_t kMost = size_t{32} << 20;

struct Options {
    double seconds{0.05}; // for each figure, about
    bool collectives{false};
    std::vector<size_t> sizes{8, 64, 512, 4096, 32'768, 262'144, 1'048'576, 4'194'304};
};

class Figures {
public:
    Figures(const Options& options, MPI_Comm comm)
        : options_{options}
        , ranks_{comm}
        , out_(kMost)
        , in_(kMost) {}

    void messages() {
        timed(kWarm, [&] { there_and_back(8); });
        for (const size_t size : options_.sizes) {
            const int bytes = int(size);
            report("latency", size, 0.5e6 * time([&] { there_and_back(bytes); }), "us");
            const double window = time([&] { many(bytes); });
            report("bandwidth", size, double(size) * kWindow / window / 1e6, "MB/s");
            if (size == 8) report("rate", size, kWindow / window / 1e6, "messages/us");
        }
    }
    void collectives() {
        timed(kWarm, [&] { broadcast(8); });
        for (const size_t size : options_.sizes) {
            const int bytes = int(size);
            report("bcast", size, 1e6 * time([&] { broadcast(bytes); }), "us");
            report("allreduce", size, 1e6 * time([&] {
                                          MPI_Allreduce(out_.data(), in_.data(), bytes / 8,
                                                        MPI_DOUBLE, MPI_SUM, ranks_.comm);
                                      }),
                   "us");
            if (size * size_t(ranks_.size) > kMost) continue;
            report("alltoall", size, 1e6 * time([&] {
                                         MPI_Alltoall(out_.data(), bytes, MPI_CHAR, in_.data(),
                                                      bytes, MPI_CHAR, ranks_.comm);
                                     }),
                   "us");
        }
    }

private:
    // Seconds for each of so many times as the ones before let expect; the first few connect.
    template <class Body>
    double time(Body&& body) {
        timed(8, body);
        const double first = timed(8, body);
        int times = int(std::clamp(options_.seconds / first, 8.0, 1e6));
        MPI_Bcast(&times, 1, MPI_INT, 0, ranks_.comm);
        return timed(times, body);
    }
    template <class Body>
    double timed(int times, Body&& body) {
        MPI_Barrier(ranks_.comm);
        const double begin = MPI_Wtime();
        for (int i = 0; i < times; ++i) body();
        return (MPI_Wtime() - begin) / times;
    }

    void send(int bytes, int to) { MPI_Send(out_.data(), bytes, MPI_CHAR, to, 0, ranks_.comm); }
    void receive(int bytes, int from) {
        MPI_Recv(in_.data(), bytes, MPI_CHAR, from, 0, ranks_.comm, MPI_STATUS_IGNORE);
    }
    void there_and_back(int bytes) {
        const bool first = ranks_.rank == 0;
        if (first) send(bytes, 1);
        receive(bytes, 1 - ranks_.rank);
        if (!first) send(bytes, 0);
    }
    void many(int bytes) {
        MPI_Request requests[kWindow];
        for (MPI_Request& request : requests)
            if (ranks_.rank == 0)
                MPI_Isend(out_.data(), bytes, MPI_CHAR, 1, 0, ranks_.comm, &request);
            else
                MPI_Irecv(in_.data(), bytes, MPI_CHAR, 0, 0, ranks_.comm, &request);
        MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
        if (ranks_.rank == 0)
            receive(1, 1);
        else
            send(1, 0);
    }
    // From each in turn, who begins when he has the one before.
    void broadcast(int bytes) {
        MPI_Bcast(out_.data(), bytes, MPI_CHAR, root_, ranks_.comm);
        root_ = (root_ + 1) % ranks_.size;
    }

    void report(const char* name, size_t size, double figure, const char* unit) const {
        if (ranks_.rank == 0) std::printf("%s.%zu %.4g %s\n", name, size, figure, unit);
    }

    const Options& options_;
    const Ranks ranks_;
    std::vector<char> out_, in_;
    int root_{0};
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"What MPI calls take by size."};
    command.option("-t,--time", options.seconds, "seconds for each figure");
    command.option("-s,--sizes", options.sizes, "bytes").with_commas();
    command.flag("-c,--collectives", options.collectives, "of all ranks, and not of the first two");
    if (!command.read(argc, argv)) return command.status();
    const Ranks world{MPI_COMM_WORLD};
    if (world.size < 2) return std::fprintf(stderr, "there is nobody to talk to\n"), 1;
    if (options.collectives) {
        Figures{options, MPI_COMM_WORLD}.collectives();
        return 0;
    }
    MPI_Comm pair = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world.rank < 2 ? 0 : MPI_UNDEFINED, world.rank, &pair);
    if (pair == MPI_COMM_NULL) return 0;
    Figures{options, pair}.messages();
    MPI_Comm_free(&pair);
    return 0;
}
