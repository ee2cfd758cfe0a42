// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// QR factorization by Householder's reflections, with pivoting: in each iteration all agree on the
// longest column that is left, whose owner broadcasts the reflection that it makes, and nobody goes
// on without it.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace bench;

// The columns of a rank: every so many-th one, so that all have some until the end.
class Factorization {
public:
    Factorization(int size, MPI_Comm comm)
        : size_{size}
        , ranks_{comm} {
        for (int column = ranks_.rank; column < size; column += ranks_.size) {
            auto& values = columns_.emplace_back(Column{column, false, {}}).values;
            for (int row = 0; row < size; ++row)
                values.push_back(random_number(uint64_t(column) * uint64_t(size) + uint64_t(row)));
        }
    }

    void run() {
        std::vector<double> reflection(size_t(size_) + 1);
        for (int row = 0; row < size_; ++row) {
            const int pivot = longest(row);
            const int owner = pivot % ranks_.size;
            if (owner == ranks_.rank) make_reflection(column(pivot), row, reflection);
            // Its length, too, which would be 0 where the column is.
            MPI_Bcast(&reflection[size_t(row)], size_ - row + 1, MPI_DOUBLE, owner, ranks_.comm);
            pivots_.push_back(pivot);
            for (Column& column : columns_)
                if (!column.done) reflect(column, row, reflection);
            if (owner == ranks_.rank) column(pivot).done = true;
        }
    }

    // Whether the columns here are those of another one, which has all.
    bool is_part_of(const Factorization& whole) const {
        return pivots_ == whole.pivots_ && std::ranges::all_of(columns_, [&](const Column& column) {
                   return column.values == whole.columns_[size_t(column.number)].values;
               });
    }

private:
    struct Column {
        int number;
        bool done;
        std::vector<double> values;
    };

    Column& column(int number) { return columns_[size_t(number / ranks_.size)]; }

    // Below a row, squared.
    double length(const Column& column, int row) const noexcept {
        double sum = 0;
        for (auto i = size_t(row); i < column.values.size(); ++i)
            sum += column.values[i] * column.values[i];
        return sum;
    }

    int longest(int row) const {
        struct {
            double length;
            int column;
        } mine{-1, size_}, best{};
        for (const Column& column : columns_) {
            if (column.done) continue;
            const double length = this->length(column, row);
            if (length > mine.length) mine = {length, column.number};
        }
        MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, ranks_.comm);
        return best.column;
    }

    // Its values from a row on, and then half their length squared.
    void make_reflection(const Column& column, int row, std::vector<double>& reflection) const {
        const auto first = size_t(row);
        std::copy(column.values.begin() + row, column.values.end(), reflection.begin() + row);
        reflection[first] += std::copysign(std::sqrt(length(column, row)), reflection[first]);
        double sum = 0;
        for (auto i = first; i < size_t(size_); ++i) sum += reflection[i] * reflection[i];
        reflection.back() = sum / 2;
    }

    void reflect(Column& column, int row, const std::vector<double>& reflection) const noexcept {
        if (reflection.back() == 0) return;
        double product = 0;
        for (auto i = size_t(row); i < size_t(size_); ++i)
            product += column.values[i] * reflection[i];
        product /= reflection.back();
        for (auto i = size_t(row); i < size_t(size_); ++i)
            column.values[i] -= product * reflection[i];
    }

    int size_;
    Ranks ranks_;
    std::vector<Column> columns_;
    std::vector<int> pivots_;
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    int size = 256;
    CommandLine command{"QR factorization."};
    command.option("-s,--size", size, "rows and columns");
    if (!command.read(argc, argv)) return command.status();
    const auto factorize = [size](MPI_Comm comm) {
        Factorization factorization{size, comm};
        factorization.run();
        return factorization;
    };
    const auto together = measure([&] { return factorize(MPI_COMM_WORLD); });
    return conclude(together.is_part_of(factorize(MPI_COMM_SELF)));
}
