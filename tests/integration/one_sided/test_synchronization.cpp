// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// When what was done is there, and who may do it: the ways in which MPI's ranks agree on that.

#include "window.hpp"

#include <set>

namespace one_sided {
namespace {

class Group {
public:
    explicit Group(const std::set<int>& members) {
        const std::vector<int> list(members.begin(), members.end());
        MPI_Group world;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, static_cast<int>(list.size()), list.data(), &group_);
        MPI_Group_free(&world);
    }
    ~Group() { MPI_Group_free(&group_); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    operator MPI_Group() const { return group_; }

private:
    MPI_Group group_{MPI_GROUP_NULL};
};

TEST_CASE("post, start, complete, wait: around a ring") {
    constexpr size_t kCount = 500;
    const Group from{{left()}}, to{{right()}};
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, kCount};
        for (int round = 0; round < 10; ++round) {
            const auto out = pattern(rank(), right(), kCount, round);
            MPI_Win_post(from, 0, window);
            MPI_Win_start(to, 0, window);
            MPI_Put(out.data(), kCount, MPI_INT64_T, right(), window.at(right(), 0), kCount,
                    MPI_INT64_T, window);
            MPI_Win_complete(window);
            int there = round % 2;
            if (there) MPI_Win_wait(window);
            while (!there) MPI_Win_test(window, &there);
            CHECK(difference<int64_t>(window.memory(), pattern(left(), rank(), kCount, round)) ==
                  -1);
        }
    }
}

TEST_CASE("an exclusive lock keeps the others out between a get and a put") {
    constexpr int kTurns = 10;
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, 3};
        for (int i = 0; i < kTurns; ++i) {
            for (int target = 0; target < ranks(); ++target) {
                int64_t value = -1;
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
                MPI_Get(&value, 1, MPI_INT64_T, target, window.at(target, 2), 1, MPI_INT64_T,
                        window);
                MPI_Win_flush(target, window);
                ++value;
                MPI_Put(&value, 1, MPI_INT64_T, target, window.at(target, 2), 1, MPI_INT64_T,
                        window);
                MPI_Win_unlock(target, window);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank(), 0, window);
        CHECK(window.memory()[2] == kTurns * ranks());
        MPI_Win_unlock(rank(), window);
    }
}

TEST_CASE("requests of a shared epoch complete one by one") {
    constexpr size_t kCount = 2000;
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, kCount + 1};
        const auto out = pattern(rank(), right(), kCount);
        std::vector<int64_t> in(kCount);
        const int64_t one = 1;
        MPI_Request requests[2];
        MPI_Win_lock_all(0, window);
        MPI_Rput(out.data(), kCount, MPI_INT64_T, right(), window.at(right(), 0), kCount,
                 MPI_INT64_T, window, &requests[0]);
        MPI_Raccumulate(&one, 1, MPI_INT64_T, 0, window.at(0, kCount), 1, MPI_INT64_T, MPI_SUM,
                        window, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Win_flush_all(window);
        MPI_Rget(in.data(), kCount, MPI_INT64_T, right(), window.at(right(), 0), kCount,
                 MPI_INT64_T, window, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(difference(in, out) == -1);
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t sum = 0;
        MPI_Fetch_and_op(nullptr, &sum, MPI_INT64_T, 0, window.at(0, kCount), MPI_NO_OP, window);
        MPI_Win_flush_local(0, window);
        CHECK(sum == ranks());
        MPI_Win_unlock_all(window);
    }
}

TEST_CASE("what is flushed is there when a later flag is seen") {
    constexpr size_t kCount = 300, kFlag = kCount, kAnswer = kCount + 1;
    constexpr int kRounds = 3;
    for (Kind kind : kinds()) {
        CAPTURE(kind);
        Window<int64_t> window{kind, kCount + 2};
        const auto raise = [&window](int to, size_t flag, int64_t round) {
            MPI_Accumulate(&round, 1, MPI_INT64_T, to, window.at(to, flag), 1, MPI_INT64_T,
                           MPI_REPLACE, window);
            MPI_Win_flush(to, window);
        };
        const auto await = [&window](size_t flag, int64_t round) {
            int64_t seen = -1;
            while (seen != round) {
                MPI_Fetch_and_op(nullptr, &seen, MPI_INT64_T, rank(), window.at(rank(), flag),
                                 MPI_NO_OP, window);
                MPI_Win_flush(rank(), window);
            }
            MPI_Win_sync(window);
        };
        MPI_Win_lock_all(0, window);
        for (int round = 1; round <= kRounds; ++round) {
            const auto out = pattern(rank(), right(), kCount, round);
            MPI_Put(out.data(), kCount, MPI_INT64_T, right(), window.at(right(), 0), kCount,
                    MPI_INT64_T, window);
            MPI_Win_flush(right(), window);
            raise(right(), kFlag, round);
            await(kFlag, round);
            std::span<const int64_t> data = window.memory().first(kCount);
            CHECK(difference(data, pattern(left(), rank(), kCount, round)) == -1);
            raise(left(), kAnswer, round);
            await(kAnswer, round);
        }
        MPI_Win_unlock_all(window);
    }
}

TEST_CASE("memory comes into a dynamic window, and goes") {
    if (!on_one_host()) return; // see kinds()
    constexpr size_t kCount = 1000;
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int round = 0; round < 10; ++round) {
        std::vector<int64_t> piece(kCount, -1);
        const auto bytes = static_cast<MPI_Aint>(kCount * sizeof(int64_t));
        MPI_Win_attach(window, piece.data(), bytes);
        MPI_Aint mine, theirs;
        MPI_Get_address(piece.data(), &mine);
        MPI_Sendrecv(&mine, 1, MPI_AINT, left(), 0, &theirs, 1, MPI_AINT, right(), 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const auto out = pattern(rank(), right(), kCount, round);
        MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window);
        MPI_Put(out.data(), kCount, MPI_INT64_T, right(), theirs, kCount, MPI_INT64_T, window);
        MPI_Win_unlock(right(), window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(window, piece.data());
        CHECK(difference(piece, pattern(left(), rank(), kCount, round)) == -1);
    }
    MPI_Win_free(&window);
}

} // namespace
} // namespace one_sided
