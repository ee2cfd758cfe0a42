// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 5: collectives.

#include "contract.hpp"

#include <algorithm>
#include <numeric>

using contract::rank;
using contract::size;

namespace {

// Does not commute: what it makes of matrices depends on their order.
struct Matrix {
    int a, b, c, d;
};

void multiply(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* x = static_cast<const Matrix*>(in);
    auto* y = static_cast<Matrix*>(inout);
    for (int i = 0; i < *count; ++i) {
        const Matrix m = y[i];
        y[i] = {(x[i].a * m.a + x[i].b * m.c) % 1009, (x[i].a * m.b + x[i].b * m.d) % 1009,
                (x[i].c * m.a + x[i].d * m.c) % 1009, (x[i].c * m.b + x[i].d * m.d) % 1009};
    }
}

Matrix matrix_of(int r) { return {r + 1, r * r + 2, 3, r + 4}; }

Matrix product(int from, int to) {
    Matrix all = matrix_of(from);
    int one = 1;
    for (int r = from + 1; r < to; ++r) {
        Matrix next = matrix_of(r);
        multiply(&all, &next, &one, nullptr);
        all = next;
    }
    return all;
}

bool same(const Matrix& one, const Matrix& other) {
    return one.a == other.a && one.b == other.b && one.c == other.c && one.d == other.d;
}

// In order: 100 * r + i, of rank r.
std::vector<int> of_rank(int r, int count) {
    std::vector<int> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 100 * r);
    return all;
}

} // namespace

TEST("parts are gathered and scattered by rank, of lengths that differ, too") {
    const int root = size() - 1, mine = rank() + 1;
    std::vector<int> counts, places;
    for (int r = 0, at = 0; r < size(); at += r + 3, ++r) {
        counts.push_back(r + 1);
        places.push_back(at);
    }
    std::vector<int> all(static_cast<size_t>(places.back() + size() + 1), -1);
    const auto out = of_rank(rank(), mine);
    MPI_Gatherv(out.data(), mine, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, root,
                MPI_COMM_WORLD);
    if (rank() == root)
        for (int r = 0; r < size(); ++r) {
            CHECK(all[static_cast<size_t>(places[static_cast<size_t>(r)] + r)] == 100 * r + r);
            CHECK(all[static_cast<size_t>(places[static_cast<size_t>(r)] + r + 1)] == -1);
        }
    std::vector<int> back(static_cast<size_t>(mine), -1);
    MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, back.data(), mine, MPI_INT,
                 root, MPI_COMM_WORLD);
    CHECK(back == out);
    std::vector<int> together(static_cast<size_t>(places.back() + size() + 1), -1);
    MPI_Allgatherv(out.data(), mine, MPI_INT, together.data(), counts.data(), places.data(),
                   MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size(); ++r)
        CHECK(together[static_cast<size_t>(places[static_cast<size_t>(r)])] == 100 * r);
    std::vector<int> in_place(static_cast<size_t>(size()), -1);
    in_place[static_cast<size_t>(rank())] = rank();
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, in_place.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size(); ++r) CHECK(in_place[static_cast<size_t>(r)] == r);
}

TEST("all exchange with all") {
    std::vector<int> out, in(static_cast<size_t>(size()) * 3, -1);
    for (int r = 0; r < size(); ++r)
        for (int i = 0; i < 3; ++i) out.push_back(rank() * 1000 + r * 10 + i);
    MPI_Alltoall(out.data(), 3, MPI_INT, in.data(), 3, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size(); ++r)
        CHECK(in[static_cast<size_t>(r * 3 + 2)] == r * 1000 + rank() * 10 + 2);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, out.data(), 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(out == in);
}

TEST("reductions have the result of their order, wherever the root is") {
    MPI_Op op;
    MPI_Op_create(multiply, 0, &op);
    MPI_Datatype type;
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    const Matrix mine[2] = {matrix_of(rank()), matrix_of(rank())};
    const Matrix all = product(0, size());
    for (int root = 0; root < size(); ++root) {
        Matrix result[2] = {};
        MPI_Reduce(mine, result, 2, type, op, root, MPI_COMM_WORLD);
        CHECK((rank() != root || (same(result[0], all) && same(result[1], all))));
    }
    Matrix result[2] = {};
    MPI_Allreduce(mine, result, 2, type, op, MPI_COMM_WORLD);
    CHECK(same(result[1], all));
    MPI_Scan(mine, result, 2, type, op, MPI_COMM_WORLD);
    CHECK(same(result[0], product(0, rank() + 1)));
    MPI_Exscan(mine, result, 2, type, op, MPI_COMM_WORLD);
    CHECK((rank() == 0 || same(result[0], product(0, rank()))));
    MPI_Type_free(&type);
    MPI_Op_free(&op);
}

TEST("sums are everywhere the same, in place, too, and parts of them where they belong") {
    std::vector<double> numbers(5000, rank() + 0.25);
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), 5000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double sum = size() * (size() - 1) / 2 + 0.25 * size();
    CHECK(numbers == std::vector<double>(5000, sum));
    std::vector<int> counts, all;
    for (int r = 0; r < size(); ++r) {
        counts.push_back(r + 1);
        for (int i = 0; i <= r; ++i) all.push_back(r * 10 + i);
    }
    std::vector<int> part(static_cast<size_t>(rank()) + 1, -1);
    MPI_Reduce_scatter(all.data(), part.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i <= rank(); ++i)
        CHECK(part[static_cast<size_t>(i)] == size() * (rank() * 10 + i));
}

TEST("what is long is reduced in its order, too") {
    MPI_Datatype matrix;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op product_of;
    MPI_Op_create(multiply, 0, &product_of);
    const int count = 5003; // of which some ranks have one more than others
    const Matrix expected = product(0, size());
    const auto right = [&](const std::vector<Matrix>& all) {
        return std::ranges::all_of(all, [&](const Matrix& m) { return same(m, expected); });
    };
    const std::vector<Matrix> mine(count, matrix_of(rank()));
    std::vector<Matrix> all(count);
    MPI_Allreduce(mine.data(), all.data(), count, matrix, product_of, MPI_COMM_WORLD);
    CHECK(right(all));
    all = mine;
    MPI_Allreduce(MPI_IN_PLACE, all.data(), count, matrix, product_of, MPI_COMM_WORLD);
    CHECK(right(all));
    for (int root = 0; root < size(); ++root) {
        all.assign(count, {});
        MPI_Reduce(mine.data(), all.data(), count, matrix, product_of, root, MPI_COMM_WORLD);
        CHECK((rank() != root || right(all)));
    }
    MPI_Op_free(&product_of);
    MPI_Type_free(&matrix);
}

TEST("an operation that is not for a type is refused") {
    double in = 1, out = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD) == MPI_ERR_OP);
    CHECK(MPI_Bcast(&in, 1, MPI_DOUBLE, size(), MPI_COMM_WORLD) == MPI_ERR_ROOT);
    CHECK(MPI_Bcast(&in, -1, MPI_DOUBLE, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
