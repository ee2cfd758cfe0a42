// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Laplace's equation on a square by red-black successive over-relaxation: neighbours exchange the
// rows between them, twice in an iteration, and all agree on how much has changed.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace bench;

struct Options {
    int size{512};
    int iterations{100}; // at most
    bool overlap{false}; // rows are on their way while the others are computed
};

constexpr double kPrecision = 1e-4, kRelaxation = 1.9;

// The rows of this rank, and one of each neighbour's beside them.
class Grid {
public:
    Grid(const Options& options, MPI_Comm comm)
        : options_{options}
        , ranks_{comm}
        , first_{ranks_.first_of(options.size)}
        , rows_{ranks_.end_of(options.size) - first_}
        , width_{size_t(options.size) + 2}
        , values_((size_t(rows_) + 2) * width_) {
        // One side of the square is at 1, the others at 0.
        if (ranks_.rank == 0) std::fill_n(values_.begin(), width_, 1.0);
    }

    int first() const noexcept { return first_; }
    std::vector<double> solve() {
        double change = 1;
        for (int i = 0; i < options_.iterations && change > kPrecision; ++i) {
            const double mine = std::max(relax(0), relax(1));
            MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, ranks_.comm);
        }
        return {values_.begin() + long(width_), values_.end() - long(width_)};
    }

private:
    double* row(int number) noexcept { return &values_[size_t(number + 1) * width_]; }

    // All points of one colour, whose neighbours have the other. Gives the most that one changed.
    double relax(int colour) {
        if (!options_.overlap || rows_ < 3) {
            const double change = relax_rows(colour, 0, rows_);
            exchange();
            return change;
        }
        double change = std::max(relax_rows(colour, 0, 1), relax_rows(colour, rows_ - 1, rows_));
        MPI_Request requests[4];
        begin_exchange(requests);
        change = std::max(change, relax_rows(colour, 1, rows_ - 1));
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        return change;
    }

    double relax_rows(int colour, int from, int to) noexcept {
        double most = 0;
        for (int i = from; i < to; ++i) {
            double* const here = row(i);
            const double *const above = row(i - 1), *const below = row(i + 1);
            for (size_t j = 1 + size_t(first_ + i + colour) % 2; j <= width_ - 2; j += 2) {
                const double mean = (above[j] + below[j] + here[j - 1] + here[j + 1]) / 4;
                const double change = kRelaxation * (mean - here[j]);
                here[j] += change;
                most = std::max(most, std::abs(change));
            }
        }
        return most;
    }

    int above() const noexcept { return ranks_.rank > 0 ? ranks_.rank - 1 : MPI_PROC_NULL; }
    int below() const noexcept {
        return ranks_.rank + 1 < ranks_.size ? ranks_.rank + 1 : MPI_PROC_NULL;
    }

    void exchange() {
        const auto width = int(width_);
        MPI_Sendrecv(row(0), width, MPI_DOUBLE, above(), 0, row(rows_), width, MPI_DOUBLE, below(),
                     0, ranks_.comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(row(rows_ - 1), width, MPI_DOUBLE, below(), 0, row(-1), width, MPI_DOUBLE,
                     above(), 0, ranks_.comm, MPI_STATUS_IGNORE);
    }

    void begin_exchange(MPI_Request (&requests)[4]) {
        const auto width = int(width_);
        MPI_Irecv(row(rows_), width, MPI_DOUBLE, below(), 0, ranks_.comm, &requests[0]);
        MPI_Irecv(row(-1), width, MPI_DOUBLE, above(), 0, ranks_.comm, &requests[1]);
        MPI_Isend(row(0), width, MPI_DOUBLE, above(), 0, ranks_.comm, &requests[2]);
        MPI_Isend(row(rows_ - 1), width, MPI_DOUBLE, below(), 0, ranks_.comm, &requests[3]);
    }

    const Options& options_;
    Ranks ranks_;
    int first_, rows_;
    size_t width_;
    std::vector<double> values_;
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"Red-black successive over-relaxation."};
    command.option("-s,--size", options.size, "rows and columns");
    command.option("-i,--iterations", options.iterations, "at most");
    command.flag("--overlap", options.overlap, "send rows while others are computed");
    if (!command.read(argc, argv)) return command.status();
    if (Ranks{MPI_COMM_WORLD}.size > options.size) {
        std::fprintf(stderr, "more ranks than rows\n");
        return 1;
    }
    Grid grid{options, MPI_COMM_WORLD};
    const auto together = measure([&] { return grid.solve(); });
    const auto alone = Grid{options, MPI_COMM_SELF}.solve();
    const auto first = alone.begin() + long{options.size + 2} * grid.first();
    return conclude(std::equal(together.begin(), together.end(), first));
}
