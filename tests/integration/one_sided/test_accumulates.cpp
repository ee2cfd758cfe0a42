// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What several ranks do at once to the same elements.

#include "window.hpp"

#include <numeric>
#include <type_traits>

namespace one_sided {
namespace {

template <class T>
struct Operation {
    MPI_Op op;
    T (*apply)(T, T);
};

template <class T>
std::vector<Operation<T>> operations() {
    std::vector<Operation<T>> all{
        {MPI_SUM, [](T a, T b) { return static_cast<T>(a + b); }},
        {MPI_PROD, [](T a, T b) { return static_cast<T>(a * b); }},
        {MPI_MIN, [](T a, T b) { return std::min(a, b); }},
        {MPI_MAX, [](T a, T b) { return std::max(a, b); }},
    };
    if constexpr (std::is_integral_v<T>) {
        all.push_back({MPI_BAND, [](T a, T b) { return static_cast<T>(a & b); }});
        all.push_back({MPI_BOR, [](T a, T b) { return static_cast<T>(a | b); }});
        all.push_back({MPI_BXOR, [](T a, T b) { return static_cast<T>(a ^ b); }});
        all.push_back({MPI_LAND, [](T a, T b) { return static_cast<T>(a && b); }});
        all.push_back({MPI_LOR, [](T a, T b) { return static_cast<T>(a || b); }});
        all.push_back({MPI_LXOR, [](T a, T b) { return static_cast<T>(!a != !b); }});
    }
    return all;
}

// Small, so that all products fit into the smallest type.
template <class T>
std::vector<T> operands(int rank, size_t count) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(1 + (i >> rank) % 2);
    return values;
}

// The tickets that all ranks have drawn are all that there were.
template <class T>
void each_once(const std::vector<T>& drawn) {
    std::vector<T> all(drawn.size() * static_cast<size_t>(ranks())), wanted(all.size());
    const int n = static_cast<int>(drawn.size());
    MPI_Allgather(drawn.data(), n, type_of(T{}), all.data(), n, type_of(T{}), MPI_COMM_WORLD);
    std::ranges::sort(all);
    std::iota(wanted.begin(), wanted.end(), T{});
    CHECK(difference(all, wanted) == -1);
}

TEST_CASE_TEMPLATE("all ranks accumulate into all, by every operation", T, int8_t, int32_t,
                   uint32_t, int64_t, double) {
    constexpr size_t kCount = 50;
    const auto mine = operands<T>(rank(), kCount);
    Window<T> window{Kind::created, kCount};
    int index = 0;
    for (const auto& [op, apply] : operations<T>()) {
        CAPTURE(index++);
        std::vector<T> wanted(kCount, T{1});
        std::ranges::fill(window.memory(), T{1});
        for (int from = 0; from < ranks(); ++from)
            std::ranges::transform(wanted, operands<T>(from, kCount), wanted.begin(), apply);
        MPI_Win_fence(0, window);
        for (int to = 0; to < ranks(); ++to)
            MPI_Accumulate(mine.data(), kCount, type_of(T{}), to, window.at(to, 0), kCount,
                           type_of(T{}), op, window);
        MPI_Win_fence(0, window);
        CHECK(difference<T>(window.memory(), wanted) == -1);
        MPI_Win_fence(0, window);
    }
}

TEST_CASE("a long accumulate, and one with gaps") {
    constexpr size_t kCount = 40'000, kGap = 400;
    MPI_Datatype gaps;
    MPI_Type_vector(kCount / kGap, 1, kGap, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<double> window{kind, kCount};
        const std::vector<double> ones(kCount, 1);
        std::vector<double> wanted(kCount, ranks());
        for (size_t i = 0; i < kCount; i += kGap) wanted[i] += ranks();
        MPI_Win_fence(0, window);
        for (int to = 0; to < ranks(); ++to) {
            MPI_Accumulate(ones.data(), kCount, MPI_DOUBLE, to, window.at(to, 0), kCount,
                           MPI_DOUBLE, MPI_SUM, window);
            MPI_Accumulate(ones.data(), 1, gaps, to, window.at(to, 0), 1, gaps, MPI_SUM, window);
        }
        MPI_Win_fence(0, window);
        CHECK(difference<double>(window.memory(), wanted) == -1);
    }
    MPI_Type_free(&gaps);
}

TEST_CASE_TEMPLATE("fetch_and_op gives each ticket once", T, int32_t, int64_t) {
    constexpr int kDraws = 15;
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<T> window{kind, 2};
        const T one{1};
        std::vector<T> drawn;
        for (int i = 0; i < kDraws; ++i) {
            T ticket{};
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
            MPI_Fetch_and_op(&one, &ticket, type_of(T{}), 0, window.at(0, 1), MPI_SUM, window);
            MPI_Win_unlock(0, window);
            drawn.push_back(ticket);
        }
        each_once(drawn);
    }
}

TEST_CASE("get_accumulate draws several tickets at once, and can only look") {
    constexpr int kDraws = 10, kTickets = 5;
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, kTickets};
        const std::vector<int64_t> ones(kTickets, 1);
        std::vector<std::vector<int64_t>> drawn(kTickets);
        std::vector<int64_t> got(kTickets);
        MPI_Win_lock_all(0, window);
        for (int i = 0; i < kDraws; ++i) {
            MPI_Get_accumulate(ones.data(), kTickets, MPI_INT64_T, got.data(), kTickets,
                               MPI_INT64_T, 0, window.at(0, 0), kTickets, MPI_INT64_T, MPI_SUM,
                               window);
            MPI_Win_flush(0, window);
            for (size_t t = 0; t < kTickets; ++t) drawn[t].push_back(got[t]);
        }
        for (const auto& tickets : drawn) each_once(tickets);
        MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, got.data(), kTickets, MPI_INT64_T, 0,
                           window.at(0, 0), kTickets, MPI_INT64_T, MPI_NO_OP, window);
        MPI_Win_unlock_all(window);
        CHECK(difference(got, std::vector<int64_t>(kTickets, kDraws * ranks())) == -1);
    }
}

TEST_CASE("replaced elements are another's, whole") {
    constexpr size_t kCount = 100;
    Window<int64_t> window{Kind::created, kCount};
    const auto mine = pattern(rank(), 0, kCount);
    MPI_Win_fence(0, window);
    MPI_Accumulate(mine.data(), kCount, MPI_INT64_T, 0, window.at(0, 0), kCount, MPI_INT64_T,
                   MPI_REPLACE, window);
    MPI_Win_fence(0, window);
    if (rank() != 0) return;
    for (size_t i = 0; i < kCount; ++i) {
        const int64_t value = window.memory()[i];
        const int from = static_cast<int>(value >> 32) / 100;
        CHECK((from >= 0 && from < ranks() && value == pattern(from, 0, kCount)[i]));
    }
}

TEST_CASE_TEMPLATE("compare_and_swap lets one through at a time", T, int32_t, int64_t) {
    // There Open MPI 4.1 goes to the network without having an endpoint, and crashes.
    if (sizeof(T) == 8 && on_one_host()) return;
    constexpr int kTurns = 10;
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<T> window{kind, 1};
        std::vector<T> taken;
        T seen{};
        MPI_Win_lock_all(0, window);
        while (taken.size() < kTurns) {
            const T expected = seen, next = static_cast<T>(seen + 1);
            MPI_Compare_and_swap(&next, &expected, &seen, type_of(T{}), 0, window.at(0, 0), window);
            MPI_Win_flush(0, window);
            if (seen == expected) taken.push_back(expected);
        }
        MPI_Win_unlock_all(window);
        each_once(taken);
    }
}

} // namespace
} // namespace one_sided
