// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The parameters of LogP between two ranks, by size, measured as odrc_logp(1) does it of a
// provider: with receives that are posted before, and medians of many. See bench/mpi.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace bench;

struct Options {
    int batches{100};
    int iterations{256};
    std::vector<size_t> sizes{8, 16, 1024, 8192, 65'536};
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + long(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Microseconds.
double now() { return 1e6 * MPI_Wtime(); }

double clock_cost() {
    std::vector<double> costs;
    for (int i = 0; i < 1000; ++i) {
        const double begin = now();
        costs.push_back(now() - begin);
    }
    return median(costs);
}

// Messages of one size between the two, of whom the first one measures.
class Way {
public:
    Way(const Ranks& ranks, size_t size, const Options& options)
        : ranks_{ranks}
        , options_{options}
        , out_(size)
        , in_(size) {
        post();
    }
    ~Way() {
        for (MPI_Request& request : requests_) {
            if (request == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

    void report(double clock) {
        batches([this] { return one_way(); }); // until all is as it stays
        const double end_to_end = batches([this] { return one_way(); });
        std::vector<double> sending, receiving;
        for (int i = 0; i < options_.iterations; ++i) overheads(2 * end_to_end, sending, receiving);
        const double gap = batches([this] { return stream(); });
        if (ranks_.rank != 0) return;
        const double os = median(sending) - clock, orr = median(receiving) - clock;
        std::printf("%zu %.3f %.3f %.3f %.3f %.3f\n", out_.size(), os, orr, end_to_end - os - orr,
                    gap, end_to_end);
        std::fflush(stdout);
    }

private:
    static constexpr int kWindow = 32; // messages that are acknowledged together

    template <class Body>
    double batches(Body&& body) const {
        std::vector<double> values;
        for (int i = 0; i < options_.batches; ++i) values.push_back(body());
        return median(values);
    }

    bool first() const { return ranks_.rank == 0; }
    int other() const { return 1 - ranks_.rank; }
    // For the message after the one that is waited for.
    void post() {
        MPI_Irecv(in_.data(), int(in_.size()), MPI_BYTE, other(), 0, ranks_.comm,
                  &requests_[posted_++ % 2]);
    }
    void send() { MPI_Send(out_.data(), int(out_.size()), MPI_BYTE, other(), 0, ranks_.comm); }
    void receive() { MPI_Wait(&requests_[received_++ % 2], MPI_STATUS_IGNORE); }

    double one_way() {
        const int times = std::clamp(int((16u << 20) / out_.size()), 8, options_.iterations);
        const double begin = now();
        for (int i = 0; i < times; ++i) {
            if (!first()) receive();
            send();
            post();
            if (first()) receive();
        }
        return (now() - begin) / 2 / times;
    }

    // The answer is received so much later that it is certain to have come.
    void overheads(double there_and_back, std::vector<double>& sending,
                   std::vector<double>& receiving) {
        MPI_Barrier(ranks_.comm);
        if (!first()) {
            receive();
            send();
            return post();
        }
        const double begin = now();
        send();
        const double sent = now();
        post();
        while (now() < sent + 2 * there_and_back) {
        }
        const double late = now();
        receive();
        receiving.push_back(now() - late);
        sending.push_back(sent - begin);
    }

    double stream() {
        constexpr int kMessages = 8 * kWindow;
        char word = 0;
        const double begin = now();
        for (int i = 1; i <= kMessages; ++i) {
            if (first()) {
                send();
            } else {
                post();
                receive();
            }
            if (i % kWindow) continue;
            // One window ahead of what is acknowledged.
            if (!first()) MPI_Send(&word, 1, MPI_BYTE, 0, 1, ranks_.comm);
            if (first() && i > kWindow) acknowledged(word);
        }
        if (first()) acknowledged(word);
        return (now() - begin) / kMessages;
    }
    void acknowledged(char& word) {
        MPI_Recv(&word, 1, MPI_BYTE, 1, 1, ranks_.comm, MPI_STATUS_IGNORE);
    }

    const Ranks& ranks_;
    const Options& options_;
    std::vector<char> out_, in_;
    MPI_Request requests_[2]{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    unsigned posted_{0}, received_{0};
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{
        "LogP between two ranks, in microseconds: bytes, os, or, L, g, end to end."};
    command.option("-b,--batches", options.batches);
    command.option("-i,--iterations", options.iterations);
    command.option("-s,--sizes", options.sizes, "bytes").with_commas();
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    if (ranks.size != 2) return std::fprintf(stderr, "it takes two\n"), 1;
    const double clock = clock_cost();
    for (const size_t size : options.sizes) Way{ranks, size, options}.report(clock);
    return 0;
}
