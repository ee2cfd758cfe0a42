// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 9 and 6.4.4: info objects, and hints for communicators.

#include "contract.hpp"

#include <cstring>

using contract::left;
using contract::rank;
using contract::right;

namespace {

// The value of a key, or "-".
std::string value_of(MPI_Info info, const char* key) {
    char value[MPI_MAX_INFO_VAL];
    int flag = 0, length = -1;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, value, &flag);
    if (!flag) return "-";
    MPI_Info_get_valuelen(info, key, &length, &flag);
    CHECK(flag && length == static_cast<int>(std::strlen(value)));
    return value;
}

int class_of(int error) {
    int result = -1;
    MPI_Error_class(error, &result);
    return result;
}

std::string datatype_hint_of(MPI_Comm comm) {
    MPI_Info used;
    MPI_Comm_get_info(comm, &used);
    const std::string value = value_of(used, "odrc_datatype");
    MPI_Info_free(&used);
    return value;
}

} // namespace

TEST("what an info object is told it tells, in that order, and its copy goes its own way") {
    MPI_Info info, copy;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "2");
    MPI_Info_set(info, "one", "first");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "two");
    int keys = -1;
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys == 1);
    CHECK(value_of(info, "one") == "first");
    CHECK(value_of(info, "two") == "-");
    MPI_Info_get_nkeys(copy, &keys);
    CHECK(keys == 2);
    char key[MPI_MAX_INFO_KEY];
    MPI_Info_get_nthkey(copy, 1, key);
    CHECK(std::string{key} == "two");
    char cut[3];
    int flag = 0;
    MPI_Info_get(copy, "one", 2, cut, &flag);
    CHECK(flag && std::string{cut} == "fi");
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL);
}

TEST("what cannot be a key, a value or an info object is refused") {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info info;
    MPI_Info_create(&info);
    const std::string long_key(MPI_MAX_INFO_KEY, 'k'), long_value(MPI_MAX_INFO_VAL, 'v');
    CHECK(class_of(MPI_Info_set(info, "", "")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_set(info, long_key.c_str(), "")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_set(info, "key", long_value.c_str())) == MPI_ERR_INFO_VALUE);
    CHECK(class_of(MPI_Info_delete(info, "key")) == MPI_ERR_INFO_NOKEY);
    CHECK(class_of(MPI_Info_set(MPI_INFO_NULL, "key", "")) == MPI_ERR_INFO);
    char key[MPI_MAX_INFO_KEY];
    CHECK(class_of(MPI_Info_get_nthkey(info, 0, key)) == MPI_ERR_ARG);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST("a communicator tells of the hints that it heeds, and a copy has them, too") {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "odrc_datatype", "p-rrs:16384");
    MPI_Info_set(info, "nobody_knows_this", "1");
    MPI_Comm comm, copy, other;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    CHECK(datatype_hint_of(MPI_COMM_WORLD) == "-");
    CHECK(datatype_hint_of(comm) == "p-rrs:16384");
    MPI_Comm_dup(comm, &copy);
    CHECK(datatype_hint_of(copy) == "p-rrs:16384");
    MPI_Info_set(info, "odrc_datatype", "no such scheme");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &other);
    CHECK(datatype_hint_of(other) == "-");
    MPI_Info_set(info, "odrc_datatype", "auto");
    MPI_Comm_set_info(copy, info);
    CHECK(datatype_hint_of(copy) == "auto");
    MPI_Info_free(&info);
    for (MPI_Comm* done : {&comm, &copy, &other}) MPI_Comm_free(done);
}

TEST("messages in pieces come whatever their communicators say, many at once") {
    constexpr const char* kHints[] = {"generic", "bc-spup:8192", "rwg-up:whole", "p-rrs",
                                      "multi-w"};
    constexpr int kBlocks = 700, kLength = 20, kStride = 24, kEach = 4;
    MPI_Datatype type;
    MPI_Type_vector(kBlocks, kLength, kStride, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::vector<MPI_Comm> comms;
    for (const char* hint : kHints) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "odrc_datatype", hint);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comms.emplace_back());
        MPI_Info_free(&info);
    }
    constexpr size_t kInts = size_t{kBlocks} * kStride;
    std::vector<int> out(kInts);
    for (size_t i = 0; i < kInts; ++i) out[i] = static_cast<int>(i) + rank();
    std::vector<std::vector<int>> in;
    std::vector<MPI_Request> requests;
    in.reserve(comms.size() * kEach);
    for (int i = 0; i < kEach; ++i)
        for (MPI_Comm comm : comms)
            MPI_Irecv(in.emplace_back(kInts, -1).data(), 1, type, left(), i, comm,
                      &requests.emplace_back());
    for (int i = 0; i < kEach; ++i)
        for (MPI_Comm comm : comms)
            MPI_Isend(out.data(), 1, type, right(), i, comm, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& ints : in) {
        bool right_ones = true;
        for (size_t i = 0; i < kInts; ++i)
            right_ones = right_ones &&
                         ints[i] == (i % kStride < kLength ? static_cast<int>(i) + left() : -1);
        CHECK(right_ones);
    }
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    MPI_Type_free(&type);
}
