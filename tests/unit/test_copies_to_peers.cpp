// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What is long goes past the caches of a peer that is far.

#include "base/copy_past_caches.hpp"
#include "fork.hpp"
#include "softrc/copy_to_peer.hpp"
#include "softrc/process.hpp"
#include "tests/forks.hpp"

#include <algorithm>
#include <random>

using namespace rig;
using namespace std::chrono_literals;

namespace {

constexpr size_t kBytes = size_t{64} << 10;

std::vector<std::byte> random_bytes(std::mt19937& random, size_t count) {
    std::vector<std::byte> all(count);
    for (std::byte& b : all) b = static_cast<std::byte>(random());
    return all;
}

// A process with memory that its peers have mapped, as long as it is not told to end.
void be_written_to(Board& board) {
    Side side;
    const verbs::Qp qp = side.make_qp();
    const verbs::Slab memory{side.context(), soft_device().port(), side.pd.get(), kBytes,
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                                 IBV_ACCESS_REMOTE_WRITE};
    board.address = reinterpret_cast<uint64_t>(memory.bytes().data());
    board.rkey = memory.rkey();
    board.added = soft::Process::current()->node().identity();
    child_connects(side, qp.get(), board);
    while (!board.done) sched_yield();
}

// How many copies go past the caches until one goes into them again.
uint32_t left_out(soft::Nearness& nearness) {
    uint32_t copies = 0;
    while (!nearness.is_near()) ++copies;
    return copies;
}

void find_far(soft::Nearness& nearness) {
    const auto slow = [] { usleep(100); };
    while (nearness.is_near()) nearness.watch(kBytes, slow);
}

soft::QpPlace place_of(uint64_t identity) {
    return {.slot = static_cast<uint32_t>(identity >> 52),
            .generation = static_cast<uint32_t>(identity >> 32 & 0xfffff),
            .port_offset = 0};
}

} // namespace

TEST_CASE("a copy past the caches is a copy, wherever it begins and ends") {
    std::mt19937 random{4};
    const auto in = random_bytes(random, 5000);
    for (int i = 0; i < 3000; ++i) {
        const size_t from = random() % 100, to = random() % 100;
        const size_t length = random() % (i % 2 ? 200 : in.size() - 200);
        std::vector<std::byte> out(in.size()), wanted(in.size());
        std::copy_n(in.begin() + from, length, wanted.begin() + to);
        copy_past_caches(out.data() + to, in.data() + from, length);
        REQUIRE(out == wanted);
    }
}

TEST_CASE("what takes long for few bytes takes a short time for many") {
    const soft::Nearness nearness{5};
    CHECK_FALSE(nearness.is_slow(3us, 16 << 10));
    CHECK(nearness.is_slow(4us, 16 << 10));
    CHECK_FALSE(nearness.is_slow(4us, 32 << 10));
    CHECK(soft::Nearness{12}.is_slow(4us, 32 << 10));
}

TEST_CASE("who is far is tried less and less, and memory that is new is no sign of it") {
    soft::Nearness nearness{5};
    const auto last = [](std::chrono::microseconds time) {
        return [time] {
            const Time until = Clock::now() + time;
            while (Clock::now() < until) {
            }
        };
    };
    const auto slow = last(20us);
    nearness.watch(kBytes, slow);
    CHECK(left_out(nearness) == 0); // it may have been new
    for (uint32_t expected = soft::Nearness::kFewest; expected < soft::Nearness::kMost;
         expected *= 2) {
        nearness.watch(kBytes, slow);
        CHECK(left_out(nearness) == expected);
    }
    constexpr size_t kPage = 4096;
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    madvise(memory, kBytes, MADV_NOHUGEPAGE);
    nearness.watch(kBytes, [&] {
        for (size_t at = 0; at < kBytes; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
        slow();
    });
    CHECK(left_out(nearness) == 0);
    munmap(memory, kBytes);
}

TEST_CASE("what goes badly is left out, each time for longer, until it goes well") {
    constexpr uint32_t kLeast = 8, kMost = 64;
    soft::Attempt attempt{kLeast, kMost};
    const auto left_out = [&] {
        uint32_t times = 0;
        while (!attempt.is_worth_it()) ++times;
        return times;
    };
    CHECK(left_out() == 0);
    for (const uint32_t times : {kLeast, 2 * kLeast, 4 * kLeast, kMost, kMost}) {
        attempt.went_badly();
        CHECK(left_out() == times);
    }
    for (uint32_t i = 0; i < kMost; ++i) attempt.went_well();
    attempt.went_badly();
    CHECK(left_out() == kLeast);
}

TEST_CASE("what is written to first is not met page by page" * forks()) {
    constexpr size_t kPage = 4096;
    BoardMemory shared;
    Board& board = *shared.board;
    const pid_t child = fork_child([&] { be_written_to(board); });
    Side side;
    const verbs::Qp qp = side.make_qp();
    parent_connects(side, qp.get(), board);
    std::vector<std::byte> out(kPage);
    const verbs::Mr mr = side.register_memory(out.data(), kPage, IBV_ACCESS_LOCAL_WRITE);
    const uint64_t before = page_faults();
    for (size_t at = 0; at < kBytes; at += kPage) {
        REQUIRE(side.post_send(qp.get(), {sge(out.data(), kPage, mr->lkey)},
                               {.opcode = IBV_WR_RDMA_WRITE,
                                .remote = board.address + at,
                                .rkey = board.rkey}) == 0);
        REQUIRE(side.wait().status == IBV_WC_SUCCESS);
    }
    CHECK(page_faults() - before < kBytes / kPage * 3 / 4); // sixteen pages are found at once
    board.done = true;
    waitpid(child, nullptr, 0);
}

TEST_CASE("a peer gets the same bytes whether it is near or far" * forks()) {
    BoardMemory shared;
    Board& board = *shared.board;
    const pid_t child = fork_child([&] { be_written_to(board); });
    Side side;
    const verbs::Qp qp = side.make_qp();
    parent_connects(side, qp.get(), board);
    const auto peer = soft::Process::current()->peer(place_of(board.added));
    REQUIRE(peer);
    std::mt19937 random{5};
    std::vector<std::byte> out = random_bytes(random, kBytes), back(kBytes), wanted(kBytes);
    const int local = IBV_ACCESS_LOCAL_WRITE;
    const verbs::Mr out_mr = side.register_memory(out.data(), kBytes, local);
    const verbs::Mr back_mr = side.register_memory(back.data(), kBytes, local);
    const auto move = [&](ibv_wr_opcode opcode, void* here, uint32_t lkey, size_t there,
                          size_t length) {
        REQUIRE(side.post_send(
                    qp.get(), {sge(here, length, lkey)},
                    {.opcode = opcode, .remote = board.address + there, .rkey = board.rkey}) == 0);
        REQUIRE(side.wait().status == IBV_WC_SUCCESS);
    };
    for (int i = 0; i < 500; ++i) {
        const size_t length = 1 + random() % (4 * soft::kLeastPastCaches);
        const size_t from = random() % (kBytes - length), to = random() % (kBytes - length);
        const bool far = random() % 2;
        if (far) find_far(peer->nearness_of_writes());
        CHECK_FALSE(side.context().is_far(qp.get())); // for what it receives
        move(IBV_WR_RDMA_WRITE, out.data() + from, out_mr->lkey, to, length);
        std::copy_n(out.begin() + from, length, wanted.begin() + to);
        left_out(peer->nearness_of_writes());
    }
    find_far(peer->nearness_of_receives());
    CHECK(side.context().is_far(qp.get()));
    soft::Nearness& writes = peer->nearness_of_writes();
    constexpr uint32_t kAsked = 1; // by find_far()
    do find_far(writes);
    while (left_out(writes) < soft::Nearness::kMost - kAsked);
    find_far(writes);
    move(IBV_WR_RDMA_WRITE, out.data(), out_mr->lkey, 0, soft::kLeastPastCaches);
    CHECK(left_out(writes) == soft::Nearness::kMost - kAsked - 1);
    std::copy_n(out.begin(), soft::kLeastPastCaches, wanted.begin());
    move(IBV_WR_RDMA_READ, back.data(), back_mr->lkey, 0, kBytes);
    CHECK(back == wanted);
    board.done = true;
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}
