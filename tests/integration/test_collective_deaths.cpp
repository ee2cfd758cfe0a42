// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Collectives of processes, one of which is killed.

#include "multicasts.hpp"
#include "tests/forks.hpp"

using namespace duo;

namespace {

constexpr int kLost = 3; // exit status of a member that hears nothing of the death

class Member : public Process {
public:
    using Process::Process;

    void begin() {
        check(fi_allreduce(me.ep(), &in, 1, nullptr, &out, nullptr, address(), FI_UINT64, FI_SUM, 0,
                           &out),
              "fi_allreduce");
    }
    int end() { return end_of(&out); }
    int run() {
        begin();
        return end();
    }

    uint64_t in{1}, out{0};
};

} // namespace

TEST_CASE("all members hear that one died, though it is not they who wait for its word" * forks()) {
    constexpr size_t kSize = 5, kVictim = 3;
    const SharedNames names;
    std::vector<std::unique_ptr<Child>> children;
    for (size_t rank = 0; rank < kSize; ++rank) {
        children.push_back(std::make_unique<Child>([&, rank](Board& board) {
            Member p{names, rank, kSize};
            if (p.run() != 0 || p.out != kSize) _exit(1);
            if (rank != kVictim) p.begin();
            board.step = 1;
            if (rank == kVictim) pause();
            if (p.end() == 0) _exit(kLost);
            // The group is of no use any more.
            if (p.run() == 0) _exit(kLost);
        }));
    }
    for (auto& child : children) child->await(1);
    children[kVictim]->kill_now();
    for (size_t rank = 0; rank < kSize; ++rank)
        if (rank != kVictim) CHECK(children[rank]->join() == 0);
}

TEST_CASE("no member hangs when one is killed in the middle of a collective" * forks()) {
    constexpr size_t kSize = 8, kVictim = 6;
    const SharedNames names;
    std::vector<std::unique_ptr<Child>> children;
    for (size_t rank = 0; rank < kSize; ++rank) {
        children.push_back(std::make_unique<Child>([&, rank](Board& board) {
            Member p{names, rank, kSize};
            while (p.run() == 0) {
                if (p.out != kSize) _exit(1);
                ++board.step;
            }
        }));
    }
    for (auto& child : children) child->await(5);
    children[kVictim]->kill_now();
    for (size_t rank = 0; rank < kSize; ++rank)
        if (rank != kVictim) CHECK(children[rank]->join() == 0);
}
