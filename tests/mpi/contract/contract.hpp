// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "mpi.h"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

// What the standard promises, checked by all processes of a job together. It is written for any
// MPI.
namespace contract {

inline int failures = 0;
inline std::string current;

struct Test {
    const char* name;
    std::function<void()> body;
};
std::vector<Test>& tests();

struct Enter {
    Enter(const char* name, std::function<void()> body) {
        tests().push_back({name, std::move(body)});
    }
};

inline int rank_in(MPI_Comm comm) {
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
inline int size_of(MPI_Comm comm) {
    int size = -1;
    MPI_Comm_size(comm, &size);
    return size;
}
inline int rank() { return rank_in(MPI_COMM_WORLD); }
inline int size() { return size_of(MPI_COMM_WORLD); }
// Neighbours in a ring of all.
inline int left() { return (rank() + size() - 1) % size(); }
inline int right() { return (rank() + 1) % size(); }

} // namespace contract

#define CONTRACT_TEST(name, line)                                                                  \
    static void test_##line();                                                                     \
    static const contract::Enter enter_##line{name, test_##line};                                  \
    static void test_##line()
#define CONTRACT_TEST_AT(name, line) CONTRACT_TEST(name, line)
#define TEST(name) CONTRACT_TEST_AT(name, __LINE__)

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        if (!(__VA_ARGS__)) {                                                                      \
            ++contract::failures;                                                                  \
            std::fprintf(stderr, "rank %d of %d, %s\n%s:%d: %s\n", contract::rank(),               \
                         contract::size(), contract::current.c_str(), __FILE__, __LINE__,          \
                         #__VA_ARGS__);                                                            \
        }                                                                                          \
    } while (false)
