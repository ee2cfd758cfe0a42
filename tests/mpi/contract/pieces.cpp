// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Long messages of data in pieces, which go in other ways than short ones: whatever way that is.

#include "contract.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <unistd.h>

using contract::left;
using contract::rank;
using contract::right;
using contract::size;

namespace {

// A type of one's own.
class Type {
public:
    explicit Type(MPI_Datatype type)
        : type_{type} {
        MPI_Type_commit(&type_);
    }
    ~Type() { MPI_Type_free(&type_); }
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;
    operator MPI_Datatype() const { return type_; }

private:
    MPI_Datatype type_;
};

MPI_Datatype vector_of(int blocks, int length, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, length, stride, MPI_INT, &type);
    return type;
}

std::vector<int> numbers(size_t count, int from) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), from);
    return all;
}

// Whether the ints of a vector type are those of another process's numbers(), and all between them
// is as it was.
bool holds(const std::vector<int>& in, int blocks, int length, int stride, int from, int gap) {
    for (size_t i = 0; i < in.size(); ++i) {
        const int block = static_cast<int>(i) / stride, at = static_cast<int>(i) % stride;
        const int wanted = block < blocks && at < length ? from + static_cast<int>(i) : gap;
        if (in[i] != wanted) return false;
    }
    return true;
}

} // namespace

TEST("columns of a large matrix arrive, and nothing beside them is touched") {
    constexpr int kRows = 128, kColumns = 1024;
    for (const int columns : {8, 16, 61, 64, 512, 1023}) {
        const Type type{vector_of(kRows, columns, kColumns)};
        const auto out = numbers(size_t{kRows} * kColumns, rank());
        std::vector<int> in(out.size(), -7);
        MPI_Status status;
        MPI_Sendrecv(out.data(), 1, type, right(), 3, in.data(), 1, type, left(), 3, MPI_COMM_WORLD,
                     &status);
        CHECK(holds(in, kRows, columns, kColumns, left(), -7));
        int count = -1;
        MPI_Get_count(&status, type, &count);
        CHECK(count == 1);
        CHECK(status.MPI_SOURCE == left());
        CHECK(status.MPI_TAG == 3);
    }
}

TEST("ten thousand blocks of all lengths, none among them, and others on the other side") {
    constexpr int kBlocks = 10'000;
    std::vector<int> lengths(kBlocks), places(kBlocks);
    int at = 0, ints = 0;
    for (int i = 0; i < kBlocks; ++i) {
        lengths[static_cast<size_t>(i)] = i % 7;
        places[static_cast<size_t>(i)] = at;
        at += i % 7 + i % 3;
        ints += i % 7;
    }
    MPI_Datatype indexed;
    MPI_Type_indexed(kBlocks, lengths.data(), places.data(), MPI_INT, &indexed);
    const Type out_type{indexed};
    const Type in_type{vector_of(ints, 1, 2)};
    const auto out = numbers(static_cast<size_t>(at), rank());
    std::vector<int> in(static_cast<size_t>(ints) * 2, -1);
    MPI_Sendrecv(out.data(), 1, out_type, right(), 0, in.data(), 1, in_type, left(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bool right_ones = true;
    size_t next = 0;
    for (size_t i = 0; i < kBlocks; ++i)
        for (int j = 0; j < lengths[i]; ++j, next += 2)
            right_ones = right_ones && in[next] == left() + places[i] + j && in[next + 1] == -1;
    CHECK(right_ones);
}

TEST("what lies backwards arrives forwards") {
    constexpr int kInts = 30'000;
    MPI_Datatype backwards;
    MPI_Type_create_hvector(kInts, 1, -static_cast<MPI_Aint>(sizeof(int)), MPI_INT, &backwards);
    const Type type{backwards};
    const auto out = numbers(kInts, rank());
    std::vector<int> in(kInts, -1), mirrored(kInts, -1);
    MPI_Sendrecv(&out.back(), 1, type, right(), 0, in.data(), kInts, MPI_INT, left(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(std::equal(in.rbegin(), in.rend(), numbers(kInts, left()).begin()));
    MPI_Sendrecv(&out.back(), 1, type, right(), 0, &mirrored.back(), 1, type, left(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(mirrored == numbers(kInts, left()));
}

TEST("what is sent in one piece comes in many, and the other way round, time and again") {
    constexpr int kBlocks = 2000, kLength = 32, kStride = 48;
    const Type pieces{vector_of(kBlocks, kLength, kStride)};
    const auto out = numbers(size_t{kBlocks} * kLength, rank());
    for (int round = 0; round < 4; ++round) {
        std::vector<int> in(size_t{kBlocks} * kStride, -1), back(out.size(), -1);
        MPI_Sendrecv(out.data(), kBlocks * kLength, MPI_INT, right(), 0, in.data(), 1, pieces,
                     left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(in.data(), 1, pieces, left(), 0, back.data(), kBlocks * kLength, MPI_INT,
                     right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(back == out);
        CHECK(std::ranges::count(in, -1) == kBlocks * (kStride - kLength));
    }
}

TEST("many long messages at once arrive in their order, and types are freed meanwhile") {
    constexpr int kMessages = 60, kBlocks = 1000, kLength = 40, kStride = 50;
    const auto out = numbers(size_t{kBlocks} * kStride, rank());
    std::vector<std::vector<int>> in(kMessages, std::vector<int>(size_t{kBlocks} * kStride, -1));
    std::vector<MPI_Request> requests;
    for (auto& place : in) {
        const Type type{vector_of(kBlocks, kLength, kStride)};
        MPI_Irecv(place.data(), 1, type, left(), 0, MPI_COMM_WORLD, &requests.emplace_back());
    }
    // Each begins where the one before did, and one more.
    for (int i = 0; i < kMessages; ++i) {
        const Type type{vector_of(kBlocks - 1, kLength, kStride)};
        MPI_Isend(&out[static_cast<size_t>(i % 40)], 1, type, right(), 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMessages; ++i)
        CHECK(
            holds(in[static_cast<size_t>(i)], kBlocks - 1, kLength, kStride, left() + i % 40, -1));
}

TEST("what has been sent in pieces may be written over, and its type freed, before it has come") {
    if (size() < 2) return;
    constexpr int kMessages = 20, kBlocks = 4096, kLength = 16, kStride = 20; // 256 KiB
    std::vector<int> memory(size_t{kBlocks} * kStride);
    for (int i = 0; i < kMessages; ++i) {
        const Type type{vector_of(kBlocks, kLength, kStride)};
        if (rank() == 0) {
            memory = numbers(memory.size(), i);
            MPI_Send(memory.data(), 1, type, 1, 0, MPI_COMM_WORLD);
        } else if (rank() == 1) {
            std::ranges::fill(memory, -1);
            MPI_Recv(memory.data(), 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(holds(memory, kBlocks, kLength, kStride, i, -1));
        }
    }
}

TEST("a message in pieces comes although others that have begun do not go on") {
    if (size() < 3) return;
    constexpr int kMessages = 20, kBlocks = 4096, kLength = 32, kStride = 33; // 512 KiB
    const Type type{vector_of(kBlocks, kLength, kStride)};
    const auto out = numbers(size_t{kBlocks} * kStride, rank());
    std::vector<std::vector<int>> in;
    std::vector<MPI_Request> requests;
    // Goes when the last message has come, from 2 to 1, which has the files that 0 has.
    char name[] = "/tmp/odrc_contract.XXXXXX";
    if (rank() == 0) close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank() == 1) {
        for (int i = 0; i < kMessages; ++i)
            MPI_Irecv(in.emplace_back(out.size(), -1).data(), 1, type, 0, 0, MPI_COMM_WORLD,
                      &requests.emplace_back());
        std::vector<int> late(out.size(), -1);
        MPI_Recv(late.data(), 1, type, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(holds(late, kBlocks, kLength, kStride, 2, -1));
        unlink(name);
    } else if (rank() == 2) {
        MPI_Send(out.data(), 1, type, 1, 0, MPI_COMM_WORLD);
    } else if (rank() == 0) {
        for (int i = 0; i < kMessages; ++i)
            MPI_Isend(out.data(), 1, type, 1, 0, MPI_COMM_WORLD, &requests.emplace_back());
        while (access(name, F_OK) == 0) usleep(1000); // and calls nothing of MPI
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& place : in) CHECK(holds(place, kBlocks, kLength, kStride, 0, -1));
}

TEST("short and long messages in pieces do not overtake each other") {
    constexpr int kMessages = 30;
    std::vector<MPI_Request> requests;
    std::vector<std::vector<int>> in, out;
    for (int i = 0; i < kMessages; ++i) {
        const int blocks = i % 3 == 0 ? 10 : i % 3 == 1 ? 3000 : 20'000;
        in.emplace_back(static_cast<size_t>(blocks) * 2, -1);
        out.push_back(numbers(in.back().size(), 1000 * i));
    }
    for (size_t i = 0; i < kMessages; ++i) {
        const int blocks = static_cast<int>(in[i].size()) / 2;
        const Type type{vector_of(blocks, 1, 2)};
        MPI_Irecv(in[i].data(), 1, type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests.emplace_back());
        MPI_Isend(out[i].data(), 1, type, right(), 7, MPI_COMM_WORLD, &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMessages; ++i)
        CHECK(holds(in[static_cast<size_t>(i)],
                    static_cast<int>(in[static_cast<size_t>(i)].size()) / 2, 1, 2, 1000 * i, -1));
}

TEST("a long message in pieces is probed, claimed, sent synchronously and started again") {
    constexpr int kBlocks = 4000, kStride = 3;
    const Type type{vector_of(kBlocks, 2, kStride)};
    const auto out = numbers(size_t{kBlocks} * kStride, rank());
    std::vector<int> in(out.size(), -1);
    MPI_Request sending;
    MPI_Ssend_init(out.data(), 1, type, right(), 5, MPI_COMM_WORLD, &sending);
    for (int round = 0; round < 3; ++round) {
        MPI_Start(&sending);
        MPI_Status status;
        MPI_Probe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        int ints = -1;
        MPI_Get_count(&status, MPI_INT, &ints);
        CHECK(ints == 2 * kBlocks);
        in.assign(in.size(), -1);
        if (round == 0) {
            MPI_Recv(in.data(), 1, type, left(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Message message;
            MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(in.data(), 1, type, &message, &status);
        }
        CHECK(holds(in, kBlocks, 2, kStride, left(), -1));
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&sending);
}

TEST("of a message that is too long in pieces the rest is cut, and its sender does not mind") {
    constexpr int kBlocks = 5000;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const auto out = numbers(2 * kBlocks, rank());
    for (const int fit : {1, 10, 2500}) {
        const Type type{vector_of(kBlocks, 1, 2)}, smaller{vector_of(fit, 1, 2)};
        std::vector<int> in(2 * kBlocks, -1);
        MPI_Request sending;
        MPI_Isend(out.data(), 1, type, right(), 0, MPI_COMM_WORLD, &sending);
        MPI_Status status;
        const int error = MPI_Recv(in.data(), 1, smaller, left(), 0, MPI_COMM_WORLD, &status);
        int what = MPI_SUCCESS;
        MPI_Error_class(error, &what);
        CHECK(what == MPI_ERR_TRUNCATE);
        CHECK(MPI_Wait(&sending, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        bool beyond = false;
        for (size_t i = static_cast<size_t>(fit) * 2; i < in.size(); ++i)
            beyond = beyond || in[i] != -1;
        CHECK(!beyond);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST("all to all, of a struct whose blocks double") {
    constexpr int kBlocks = 14;
    std::vector<int> lengths(kBlocks), places(kBlocks);
    int at = 0;
    for (int i = 0; i < kBlocks; ++i) {
        lengths[static_cast<size_t>(i)] = 1 << i;
        places[static_cast<size_t>(i)] = at;
        at += (1 << i) + 1;
    }
    MPI_Datatype indexed, spread;
    MPI_Type_indexed(kBlocks, lengths.data(), places.data(), MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, 0, at * static_cast<MPI_Aint>(sizeof(int)), &spread);
    MPI_Type_free(&indexed);
    const Type type{spread};
    const auto ints = static_cast<size_t>(at) * static_cast<size_t>(size());
    const auto out = numbers(ints, 100 * rank());
    std::vector<int> in(ints, -1);
    MPI_Alltoall(out.data(), 1, type, in.data(), 1, type, MPI_COMM_WORLD);
    bool right_ones = true;
    for (int from = 0; from < size(); ++from)
        for (size_t i = 0; i < kBlocks; ++i) {
            const int last = places[i] + lengths[i] - 1;
            right_ones = right_ones && in[static_cast<size_t>(from * at + last)] ==
                                           100 * from + rank() * at + last;
        }
    CHECK(right_ones);
}
