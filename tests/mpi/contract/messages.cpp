// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 3.2 to 3.6, 3.8, 3.10: messages, in all modes.

#include "contract.hpp"

#include <numeric>

using contract::left;
using contract::rank;
using contract::right;
using contract::size;

namespace {

std::vector<int> numbers(int count, int first) {
    std::vector<int> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), first);
    return all;
}

} // namespace

TEST("messages of any length come whole, and tell from whom") {
    for (const int count : {0, 1, 100, 256, 257, 2048, 2049, 100'000}) {
        const auto out = numbers(count, rank() * 1000);
        std::vector<int> in(static_cast<size_t>(count) + 10, -1);
        MPI_Status status;
        MPI_Sendrecv(out.data(), count, MPI_INT, right(), 3, in.data(), count + 10, MPI_INT,
                     MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        int came = -1;
        MPI_Get_count(&status, MPI_INT, &came);
        CHECK(came == count);
        CHECK(status.MPI_SOURCE == left());
        CHECK(status.MPI_TAG == 3);
        in.resize(static_cast<size_t>(count));
        CHECK(in == numbers(count, left() * 1000));
    }
}

TEST("messages do not overtake each other, whatever their lengths") {
    constexpr int kMessages = 60;
    std::vector<std::vector<int>> out;
    std::vector<MPI_Request> sending;
    for (int i = 0; i < kMessages; ++i) {
        out.push_back(numbers(i % 3 == 0 ? 5000 : i, i));
        sending.emplace_back();
        MPI_Isend(out.back().data(), static_cast<int>(out.back().size()), MPI_INT, right(), 7,
                  MPI_COMM_WORLD, &sending.back());
    }
    std::vector<int> in(5000);
    for (int i = 0; i < kMessages; ++i) {
        MPI_Status status;
        MPI_Recv(in.data(), 5000, MPI_INT, left(), i % 2 ? 7 : MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        int count = -1;
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == (i % 3 == 0 ? 5000 : i));
        CHECK((count == 0 || in[0] == i));
    }
    MPI_Waitall(kMessages, sending.data(), MPI_STATUSES_IGNORE);
}

TEST("who is nobody takes all, and sends nothing") {
    int number = 5;
    MPI_Send(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Ssend(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Status status;
    MPI_Recv(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(number == 5);
    CHECK(count == 0);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(status.MPI_TAG == MPI_ANY_TAG);
}

TEST("a synchronous send is over when its receive has begun, and not before") {
    if (size() < 2 || rank() > 1) return;
    for (const int count : {1, 10'000}) {
        auto data = numbers(count, 0);
        if (rank() == 0) {
            MPI_Request sending;
            MPI_Issend(data.data(), count, MPI_INT, 1, 1, MPI_COMM_WORLD, &sending);
            int word = 0, over = 0;
            MPI_Sendrecv(&word, 1, MPI_INT, 1, 2, &word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            for (int i = 0; i < 100; ++i) MPI_Test(&sending, &over, MPI_STATUS_IGNORE);
            CHECK(!over);
            MPI_Send(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
            MPI_Wait(&sending, MPI_STATUS_IGNORE);
        } else {
            int word = 0;
            MPI_Sendrecv(&word, 1, MPI_INT, 0, 2, &word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(data.data(), count, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

TEST("a buffered send is over with the call, as long as the buffer has room") {
    constexpr int kCount = 50'000;
    const auto out = numbers(kCount, rank()), more = numbers(kCount + 1, 0);
    std::vector<char> buffer(kCount * sizeof(int) + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    MPI_Bsend(out.data(), kCount, MPI_INT, right(), 4, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Bsend(more.data(), kCount + 1, MPI_INT, right(), 4, MPI_COMM_WORLD) ==
          MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    std::vector<int> in(kCount);
    MPI_Recv(in.data(), kCount, MPI_INT, left(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == numbers(kCount, left()));
    void* detached = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(detached == buffer.data());
    CHECK(bytes == static_cast<int>(buffer.size()));
}

TEST("what is found is received, and what is claimed nobody else gets") {
    const int mine = rank();
    MPI_Request sending[2];
    MPI_Isend(&mine, 1, MPI_INT, right(), 10, MPI_COMM_WORLD, sending);
    MPI_Issend(&mine, 1, MPI_INT, right(), 11, MPI_COMM_WORLD, sending + 1);
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == left());
    CHECK(status.MPI_TAG == 11);
    MPI_Message message;
    MPI_Mprobe(left(), 11, MPI_COMM_WORLD, &message, &status);
    int flag = -1;
    MPI_Iprobe(left(), 11, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    int number = -1;
    MPI_Recv(&number, 1, MPI_INT, left(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_TAG == 10);
    CHECK(number == left());
    number = -1;
    MPI_Mrecv(&number, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK(number == left());
    CHECK(status.MPI_TAG == 11);
    MPI_Waitall(2, sending, MPI_STATUSES_IGNORE);
}

TEST("a message that is too long is cut, and the receive says so") {
    const auto out = numbers(100, rank());
    std::vector<int> in(60, -1);
    MPI_Request sending;
    MPI_Isend(out.data(), 100, MPI_INT, right(), 5, MPI_COMM_WORLD, &sending);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Recv(in.data(), 50, MPI_INT, left(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
          MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(in[50] == -1);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
}
