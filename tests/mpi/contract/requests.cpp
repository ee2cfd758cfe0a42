// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 3.7 and 3.9: requests.

#include "contract.hpp"

using contract::left;
using contract::rank;
using contract::right;
using contract::size;

TEST("a persistent request is started time and again") {
    int out = 0, in = -1;
    MPI_Request requests[2];
    MPI_Send_init(&out, 1, MPI_INT, right(), 1, MPI_COMM_WORLD, requests);
    MPI_Recv_init(&in, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, requests + 1);
    MPI_Status status;
    MPI_Wait(requests + 1, &status); // not started: over at once, and empty
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
    for (int i = 0; i < 5; ++i) {
        out = rank() + i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(in == left() + i);
        CHECK(requests[0] != MPI_REQUEST_NULL);
    }
    for (MPI_Request& request : requests) MPI_Request_free(&request);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

TEST("a receive is canceled if nothing has come for it") {
    int in = -1, flag = 0;
    MPI_Request receiving;
    MPI_Irecv(&in, 1, MPI_INT, left(), 99, MPI_COMM_WORLD, &receiving);
    MPI_Cancel(&receiving);
    MPI_Status status;
    MPI_Wait(&receiving, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    CHECK(receiving == MPI_REQUEST_NULL);
}

TEST("any, some or all of many are waited for") {
    constexpr int kMany = 12;
    int in[kMany];
    MPI_Request receiving[kMany];
    for (int i = 0; i < kMany; ++i)
        MPI_Irecv(in + i, 1, MPI_INT, left(), i, MPI_COMM_WORLD, receiving + i);
    int index = -1, flag = -1;
    MPI_Testany(kMany, receiving, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = kMany - 1; i >= 0; --i) {
        const int out = rank() * 100 + i;
        MPI_Send(&out, 1, MPI_INT, right(), i, MPI_COMM_WORLD);
    }
    MPI_Status status;
    MPI_Waitany(kMany, receiving, &index, &status);
    CHECK(status.MPI_TAG == index);
    int out = 0, indices[kMany];
    MPI_Status statuses[kMany];
    MPI_Waitsome(kMany, receiving, &out, indices, statuses);
    CHECK(out >= 1);
    for (int i = 0; i < out; ++i) {
        CHECK(statuses[i].MPI_TAG == indices[i]);
        CHECK(receiving[indices[i]] == MPI_REQUEST_NULL);
    }
    MPI_Waitall(kMany, receiving, statuses);
    for (int i = 0; i < kMany; ++i) CHECK(in[i] == left() * 100 + i);
    MPI_Waitany(kMany, receiving, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Waitsome(kMany, receiving, &out, indices, MPI_STATUSES_IGNORE);
    CHECK(out == MPI_UNDEFINED);
}

TEST("a send that nobody waits for arrives all the same") {
    std::vector<int> out(20'000, rank()), in(20'000, -1);
    MPI_Request sending;
    MPI_Isend(out.data(), 20'000, MPI_INT, right(), 2, MPI_COMM_WORLD, &sending);
    MPI_Request_free(&sending);
    MPI_Recv(in.data(), 20'000, MPI_INT, left(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == std::vector<int>(20'000, left()));
    MPI_Barrier(MPI_COMM_WORLD);
}
