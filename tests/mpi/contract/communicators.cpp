// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 6 and 7: groups, communicators, what is kept with them, and grids.

#include "contract.hpp"

using contract::rank;
using contract::rank_in;
using contract::size;
using contract::size_of;

namespace {

int copies = 0, deletions = 0;

int copy(MPI_Comm, int, void* extra, void* value, void* to, int* flag) {
    copies += *static_cast<int*>(extra);
    *static_cast<void**>(to) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int remove(MPI_Comm, int, void*, void*) {
    ++deletions;
    return MPI_SUCCESS;
}

} // namespace

TEST("messages of one communicator are not received in another") {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int peer = rank(), out[2] = {1, 2};
    int in[2] = {0, 0};
    MPI_Request sending[2];
    MPI_Isend(out, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, sending);
    MPI_Isend(out + 1, 1, MPI_INT, peer, 0, other, sending + 1);
    MPI_Recv(in + 1, 1, MPI_INT, peer, 0, other, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1);
    CHECK(in[1] == 2);
    MPI_Waitall(2, sending, MPI_STATUSES_IGNORE);
    int result = -1;
    MPI_Comm_compare(MPI_COMM_WORLD, other, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_free(&other);
    CHECK(other == MPI_COMM_NULL);
}

TEST("a communicator is split by color, and ordered by key") {
    MPI_Comm part;
    const bool out = rank() % 3 == 2;
    MPI_Comm_split(MPI_COMM_WORLD, out ? MPI_UNDEFINED : rank() % 3, -rank(), &part);
    CHECK((part == MPI_COMM_NULL) == out);
    if (out) return;
    const int members = (size() - rank() % 3 + 2) / 3;
    CHECK(size_of(part) == members);
    CHECK(rank_in(part) == members - 1 - rank() / 3);
    int sum = 0;
    const int mine = rank();
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, part);
    int expected = 0;
    for (int r = rank() % 3; r < size(); r += 3) expected += r;
    CHECK(sum == expected);
    MPI_Comm_free(&part);
}

TEST("communicators come and go, more often than there are contexts") {
    for (int i = 0; i < 600; ++i) {
        MPI_Comm one, two;
        MPI_Comm_dup(MPI_COMM_SELF, &one);
        CHECK(size_of(one) == 1);
        if (i % 100 == 0) {
            MPI_Comm_dup(MPI_COMM_WORLD, &two);
            CHECK(rank_in(two) == rank());
            MPI_Comm_free(&two);
        }
        MPI_Comm_free(&one);
    }
}

TEST("groups are sets with an order") {
    MPI_Group all, even, odd, both, none;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int range[1][3] = {{0, size() - 1, 2}};
    MPI_Group_range_incl(all, 1, range, &even);
    MPI_Group_range_excl(all, 1, range, &odd);
    MPI_Group_union(odd, even, &both);
    MPI_Group_intersection(odd, even, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    int result = -1, count = -1;
    MPI_Group_compare(all, both, &result);
    CHECK(result == (size() == 1 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_size(even, &count);
    CHECK(count == (size() + 1) / 2);
    int first = 0, translated = -1;
    MPI_Group_translate_ranks(both, 1, &first, all, &translated);
    CHECK(translated == (size() == 1 ? 0 : 1));
    MPI_Comm created;
    MPI_Comm_create(MPI_COMM_WORLD, even, &created);
    CHECK((created == MPI_COMM_NULL) == (rank() % 2 == 1));
    if (created != MPI_COMM_NULL) {
        CHECK(rank_in(created) == rank() / 2);
        MPI_Comm_free(&created);
    }
    for (MPI_Group* group : {&all, &even, &odd, &both, &none}) MPI_Group_free(group);
}

TEST("what is kept with a communicator is copied and deleted with it") {
    int keyval = MPI_KEYVAL_INVALID, one = 1, kept = 5, flag = -1;
    MPI_Comm_create_keyval(copy, remove, &keyval, &one);
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, keyval, &kept);
    MPI_Comm_dup(first, &second);
    CHECK(copies == 1);
    int* found = nullptr;
    MPI_Comm_get_attr(second, keyval, &found, &flag);
    CHECK(flag);
    CHECK(found == &kept);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    CHECK(deletions == 2);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag);
    CHECK(*found >= 32767);
}

TEST("the sides of a grid are as close to each other as they can be") {
    using Sides = std::vector<int>;
    const auto sides = [](int processes, Sides given) {
        MPI_Dims_create(processes, int(given.size()), given.data());
        return given;
    };
    CHECK(sides(936, {0, 0, 0}) == Sides{13, 9, 8});
    CHECK(sides(7488, {0, 0, 0}) == Sides{26, 18, 16});
    CHECK(sides(720, {0, 0, 0, 0}) == Sides{6, 6, 5, 4});
    CHECK(sides(1 << 30, {0, 0, 0, 0}) == Sides{256, 256, 128, 128});
    CHECK(sides(30, {0, 3, 0}) == Sides{5, 3, 2});
    CHECK(sides(2147483647, {0, 0}) == Sides{2147483647, 1}); // a prime
    CHECK(sides(1, {0, 0}) == Sides{1, 1});
}

TEST("a grid has neighbours, and parts") {
    int sizes[2] = {0, 0};
    MPI_Dims_create(size(), 2, sizes);
    CHECK(sizes[0] * sizes[1] == size());
    CHECK(sizes[0] >= sizes[1]);
    const int periods[2] = {1, 0};
    MPI_Comm grid, row;
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    int place[2], back = -1;
    MPI_Cart_coords(grid, rank_in(grid), 2, place);
    MPI_Cart_rank(grid, place, &back);
    CHECK(back == rank_in(grid));
    int source = -1, dest = -1, in = -1;
    const int out = rank_in(grid);
    MPI_Cart_shift(grid, 0, 1, &source, &dest);
    MPI_Sendrecv(&out, 1, MPI_INT, dest, 0, &in, 1, MPI_INT, source, 0, grid, MPI_STATUS_IGNORE);
    CHECK(in == source);
    MPI_Cart_shift(grid, 1, 1, &source, &dest);
    CHECK((dest == MPI_PROC_NULL) == (place[1] == sizes[1] - 1));
    CHECK((source == MPI_PROC_NULL) == (place[1] == 0));
    const int remain[2] = {0, 1};
    MPI_Cart_sub(grid, remain, &row);
    CHECK(size_of(row) == sizes[1]);
    CHECK(rank_in(row) == place[1]);
    int kind = -1;
    MPI_Topo_test(row, &kind);
    CHECK(kind == MPI_CART);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}
