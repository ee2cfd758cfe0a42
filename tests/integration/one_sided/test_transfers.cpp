// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Puts and gets: of all sizes, of memory in one piece and in many.

#include "window.hpp"

namespace one_sided {
namespace {

// Committed, and freed again.
class Datatype {
public:
    explicit Datatype(MPI_Datatype type)
        : type_{type} {
        MPI_Type_commit(&type_);
    }
    ~Datatype() { MPI_Type_free(&type_); }
    Datatype(const Datatype&) = delete;
    Datatype& operator=(const Datatype&) = delete;
    operator MPI_Datatype() const { return type_; }

private:
    MPI_Datatype type_;
};

MPI_Datatype vector_of(int count, int block, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(count, block, stride, MPI_INT64_T, &type);
    return type;
}

MPI_Datatype blocks_at(int block, const std::vector<int>& places) {
    MPI_Datatype type;
    MPI_Type_create_indexed_block(static_cast<int>(places.size()), block, places.data(),
                                  MPI_INT64_T, &type);
    return type;
}

// Every rank puts a part into every rank's memory, and gets what it has put.
void all_to_all(Kind kind, size_t count) {
    CAPTURE(kind);
    CAPTURE(count);
    const int n = static_cast<int>(count);
    Window<int64_t> window{kind, count * static_cast<size_t>(ranks())};
    const size_t ours = static_cast<size_t>(rank()) * count;
    std::vector<std::vector<int64_t>> out, in(static_cast<size_t>(ranks()));

    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int to = 0; to < ranks(); ++to) {
        out.push_back(pattern(rank(), to, count));
        MPI_Put(out.back().data(), n, MPI_INT64_T, to, window.at(to, ours), n, MPI_INT64_T, window);
    }
    MPI_Win_fence(0, window);
    for (int from = 0; from < ranks(); ++from) {
        std::span<const int64_t> part =
            window.memory().subspan(static_cast<size_t>(from) * count, count);
        CHECK(difference(part, pattern(from, rank(), count)) == -1);
    }
    for (int from = 0; from < ranks(); ++from) {
        auto& read = in[static_cast<size_t>(from)];
        read.resize(count);
        MPI_Get(read.data(), n, MPI_INT64_T, from, window.at(from, ours), n, MPI_INT64_T, window);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    for (int from = 0; from < ranks(); ++from)
        CHECK(difference(in[static_cast<size_t>(from)], pattern(rank(), from, count)) == -1);
}

TEST_CASE("everybody puts to everybody, and gets it again") {
    for (Kind kind : kinds())
        for (size_t count : {1, 13, 1000, 100'000}) all_to_all(kind, count);
}

TEST_CASE("a column is put into scattered blocks, and got back as a row") {
    constexpr int kRows = 40, kColumns = 7;
    constexpr size_t kCells = kRows * kColumns;
    const Datatype column{vector_of(kRows, 1, kColumns)};
    std::vector<int> places(kRows); // the last first, with gaps
    for (int i = 0; i < kRows; ++i) places[static_cast<size_t>(i)] = 3 * (kRows - 1 - i);
    const Datatype scattered{blocks_at(1, places)};
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, kCells};
        const auto matrix = pattern(rank(), right(), kCells);
        std::vector<int64_t> row(kRows);

        MPI_Win_fence(0, window);
        MPI_Put(matrix.data() + 2, 1, column, right(), window.at(right(), 1), 1, scattered, window);
        MPI_Win_fence(0, window);
        const auto theirs = pattern(left(), rank(), kCells);
        std::vector<int64_t> wanted(kCells);
        for (size_t i = 0; i < kRows; ++i)
            wanted[static_cast<size_t>(places[i]) + 1] = theirs[i * kColumns + 2];
        CHECK(difference<int64_t>(window.memory(), wanted) == -1);

        MPI_Get(row.data(), kRows, MPI_INT64_T, right(), window.at(right(), 1), 1, scattered,
                window);
        MPI_Win_fence(0, window);
        for (size_t i = 0; i < kRows; ++i) CHECK(row[i] == matrix[i * kColumns + 2]);
    }
}

TEST_CASE("a great many blocks of some size are put and got") {
    constexpr int kBlock = 100, kStride = 150, kBlocks = 300;
    constexpr size_t kCells = static_cast<size_t>(kStride) * kBlocks;
    const Datatype blocks{vector_of(kBlocks, kBlock, kStride)};
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, kCells};
        const auto out = pattern(rank(), right(), kCells);
        std::vector<int64_t> in(kCells), mine(kCells), theirs(kCells);
        const auto from = pattern(left(), rank(), kCells);
        for (size_t i = 0; i < kCells; ++i) {
            if (i % kStride >= kBlock) continue;
            mine[i] = out[i];
            theirs[i] = from[i];
        }
        MPI_Win_fence(0, window);
        MPI_Put(out.data(), 1, blocks, right(), window.at(right(), 0), 1, blocks, window);
        MPI_Win_fence(0, window);
        CHECK(difference<int64_t>(window.memory(), theirs) == -1);
        MPI_Get(in.data(), 1, blocks, right(), window.at(right(), 0), 1, blocks, window);
        MPI_Win_fence(0, window);
        CHECK(difference(in, mine) == -1);
    }
}

} // namespace
} // namespace one_sided
