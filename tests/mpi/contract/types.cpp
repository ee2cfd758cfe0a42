// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 4: what is sent as one type and received as another, and packing by hand. (What types are:
// test_datatypes.cpp.)

#include "contract.hpp"

#include <cstddef>
#include <numeric>

using contract::left;
using contract::rank;
using contract::right;
using contract::size;

TEST("columns of a matrix come as rows of another, of any size") {
    for (const int n : {3, 40, 300}) {
        MPI_Datatype column, columns;
        MPI_Type_vector(n, 1, n, MPI_INT, &column);
        MPI_Type_create_resized(column, 0, sizeof(int), &columns);
        MPI_Type_commit(&columns);
        std::vector<int> out(static_cast<size_t>(n) * static_cast<size_t>(n)), in(out.size(), -1);
        std::iota(out.begin(), out.end(), rank());
        MPI_Sendrecv(out.data(), n, columns, right(), 0, in.data(), n * n, MPI_INT, left(), 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        bool right_order = true;
        for (int r = 0; r < n; ++r)
            for (int c = 0; c < n; ++c)
                right_order =
                    right_order && in[static_cast<size_t>(c * n + r)] == left() + r * n + c;
        CHECK(right_order);
        MPI_Type_free(&column);
        MPI_Type_free(&columns);
    }
}

TEST("a struct with gaps arrives in its fields, and a type may be freed while it is used") {
    struct Record {
        char name;
        double value;
        short places[3];
    };
    const int lengths[] = {1, 1, 3};
    const MPI_Aint places[] = {offsetof(Record, name), offsetof(Record, value),
                               offsetof(Record, places)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Datatype record;
    MPI_Type_create_struct(3, lengths, places, types, &record);
    MPI_Type_commit(&record);
    MPI_Aint lb = -1, extent = -1;
    MPI_Type_get_extent(record, &lb, &extent);
    CHECK(extent == sizeof(Record));
    std::vector<Record> out(2000, {'x', rank() + 0.5, {1, 2, static_cast<short>(rank())}}),
        in(2000);
    MPI_Request receiving;
    MPI_Irecv(in.data(), 2000, record, left(), 0, MPI_COMM_WORLD, &receiving);
    MPI_Request sending;
    MPI_Isend(out.data(), 2000, record, right(), 0, MPI_COMM_WORLD, &sending);
    MPI_Type_free(&record);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Wait(&receiving, MPI_STATUS_IGNORE);
    CHECK(in[1999].name == 'x');
    CHECK(in[1999].value == left() + 0.5);
    CHECK(in[1999].places[2] == left());
}

TEST("a part of a type that came is counted in its basic elements") {
    MPI_Datatype pair;
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    const int out[4] = {1, 2, 3, 4}; // 16 bytes: a pair of 12, and the int of another
    char in[100];
    MPI_Status status;
    MPI_Sendrecv(out, 4, MPI_INT, rank(), 0, in, 4, pair, rank(), 0, MPI_COMM_WORLD, &status);
    int count = -1, elements = -1;
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &elements);
    CHECK(count == MPI_UNDEFINED);
    CHECK(elements == 3);
    MPI_Type_free(&pair);
}

TEST("what is packed by hand is received as what it is, and the other way round") {
    int number = rank(), position = 0, size_needed = 0;
    double values[2] = {rank() + 0.5, 2};
    char buffer[100];
    MPI_Pack(&number, 1, MPI_INT, buffer, 100, &position, MPI_COMM_WORLD);
    MPI_Pack(values, 2, MPI_DOUBLE, buffer, 100, &position, MPI_COMM_WORLD);
    MPI_Pack_size(2, MPI_DOUBLE, MPI_COMM_WORLD, &size_needed);
    CHECK(size_needed >= 16);
    char in[100];
    MPI_Sendrecv(buffer, position, MPI_PACKED, right(), 0, in, 100, MPI_PACKED, left(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(in, 100, &position, &number, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(in, 100, &position, values, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(number == left());
    CHECK(values[0] == left() + 0.5);
}

TEST("parts of arrays, dealt to all, are together the whole") {
    constexpr int kRows = 12, kColumns = 10;
    const int sizes[] = {kRows, kColumns}, processes[] = {size(), 1};
    const int deals[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype part;
    MPI_Type_create_darray(size(), rank(), 2, sizes, deals, arguments, processes, MPI_ORDER_C,
                           MPI_INT, &part);
    MPI_Type_commit(&part);
    std::vector<int> mine(kRows * kColumns, 0), all(kRows * kColumns, 0);
    int bytes = 0;
    MPI_Type_size(part, &bytes);
    std::vector<int> ones(static_cast<size_t>(bytes) / sizeof(int), 1);
    MPI_Sendrecv(ones.data(), static_cast<int>(ones.size()), MPI_INT, rank(), 0, mine.data(), 1,
                 part, rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(mine.data(), all.data(), kRows * kColumns, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == std::vector<int>(kRows * kColumns, 1));
    for (int r = 0; r < kRows; ++r)
        CHECK(mine[static_cast<size_t>(r * kColumns)] == (r / 2 % size() == rank()));
    MPI_Type_free(&part);
}
