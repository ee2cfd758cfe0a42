// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Long copies that both processes of a connection do together.

#include "fork.hpp"
#include "softrc/joint_copy.hpp"
#include "softrc/process.hpp"
#include "tests/forks.hpp"

#include <algorithm>
#include <random>
#include <sys/mman.h>

using namespace rig;

namespace {

constexpr size_t kBytes = size_t{8} << 20;
constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

std::vector<uint32_t> numbers(uint32_t from) {
    std::vector<uint32_t> all(kBytes / sizeof(uint32_t));
    for (uint32_t& n : all) n = from++ * 2654435761U;
    return all;
}

uint64_t joined() { return soft::Process::current()->joined(); }

// A process whose memory the other one copies from and to, as long as it is not told to end.
void be_copied(Board& board, bool polls) {
    Side side;
    const verbs::Qp qp = side.make_qp();
    auto memory = numbers(1);
    const verbs::Mr mr = side.register_memory(memory.data(), kBytes, kAll);
    board.address = reinterpret_cast<uint64_t>(memory.data());
    board.rkey = mr->rkey;
    child_connects(side, qp.get(), board);
    while (!board.done) {
        if (polls) side.poll();
        board.joined = joined();
    }
    // Everything from the second number on was replaced.
    const auto wanted = numbers(7);
    if (memory[0] != numbers(1)[0] || !std::equal(memory.begin() + 1, memory.end(), wanted.begin()))
        _exit(1);
}

struct Copier {
    explicit Copier(Board& b)
        : board{b} {
        parent_connects(side, qp.get(), board);
    }

    Board& board;
    Side side;
    verbs::Qp qp = side.make_qp();
    std::vector<uint32_t> here = numbers(0);
    verbs::Mr mr = side.register_memory(here.data(), kBytes, kAll);

    ibv_wc_status copy(ibv_wr_opcode opcode, size_t at, size_t bytes, uint64_t remote_at) {
        REQUIRE(
            side.post_send(
                qp.get(), {sge(reinterpret_cast<std::byte*>(here.data()) + at, bytes, mr->lkey)},
                {.opcode = opcode, .remote = board.address + remote_at, .rkey = board.rkey}) == 0);
        return side.wait().status;
    }
};

void copy_both_ways(bool polls) {
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] { be_copied(board, polls); });
    Copier copier{board};
    for (const size_t bytes : {kBytes, kBytes - 4096, size_t{100'004}, soft::kLeastJoint,
                               soft::kLeastJoint - 4, size_t{777'780}, kBytes - 4}) {
        const auto before = numbers(static_cast<uint32_t>(bytes));
        std::ranges::copy(before, copier.here.begin()); // in the memory that is registered
        REQUIRE(copier.copy(IBV_WR_RDMA_READ, 0, bytes, 0) == IBV_WC_SUCCESS);
        const auto there = numbers(1);
        const size_t count = bytes / sizeof(uint32_t);
        CHECK(std::equal(copier.here.begin(), copier.here.begin() + count, there.begin()));
        CHECK(std::equal(copier.here.begin() + count, copier.here.end(), before.begin() + count));
    }
    std::ranges::copy(numbers(7), copier.here.begin());
    REQUIRE(copier.copy(IBV_WR_RDMA_WRITE, 0, kBytes - 4, 4) == IBV_WC_SUCCESS);
    // However the processors are shared, it has one in the middle of a copy before long.
    const Time until = Clock::now() + std::chrono::minutes{1};
    while (polls && board.joined == 0 && Clock::now() < until)
        REQUIRE(copier.copy(IBV_WR_RDMA_WRITE, 0, kBytes - 4, 4) == IBV_WC_SUCCESS);
    CHECK((board.joined > 0) == polls);
    board.done = true;
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

} // namespace

TEST_CASE("who polls joins those that copy from its memory and to it" * forks()) {
    copy_both_ways(true);
}

TEST_CASE("who does not poll is not waited for" * forks()) { copy_both_ways(false); }

TEST_CASE("copies with a process that is killed end" * forks()) {
    std::mt19937 random{11};
    for (int round = 0; round < kForks / 20; ++round) { // each makes and fills much memory
        BoardMemory memory;
        Board& board = *memory.board;
        const pid_t child = fork_child([&] { be_copied(board, true); });
        Copier copier{board};
        const pid_t killer = fork_child([&] {
            usleep(random() % 3000);
            kill(child, SIGKILL);
        });
        while (copier.copy(IBV_WR_RDMA_READ, 0, kBytes, 0) == IBV_WC_SUCCESS) {
        }
        waitpid(killer, nullptr, 0);
        waitpid(child, nullptr, 0);
        random();
    }
}

// More of them than can copy at the same time: none keeps its place.
TEST_CASE("senders that are killed in a copy leave nothing behind" * forks()) {
    Side side;
    auto memory = numbers(1);
    const verbs::Mr mr = side.register_memory(memory.data(), kBytes, kAll);
    std::mt19937 random{5};
    for (uint32_t round = 0; round < 2 * soft::kJointCopies; ++round) {
        BoardMemory board_memory;
        Board& board = *board_memory.board;
        const verbs::Qp qp = side.make_qp();
        board.address = reinterpret_cast<uint64_t>(memory.data());
        board.rkey = mr->rkey;
        const pid_t child = fork_child([&] {
            // The parent's part of the board: here it is the other one that copies.
            Side sender;
            const verbs::Qp sends = sender.make_qp();
            std::vector<uint32_t> in(kBytes / sizeof(uint32_t));
            const verbs::Mr in_mr = sender.register_memory(in.data(), kBytes, kAll);
            child_connects(sender, sends.get(), board);
            for (;;) {
                sender.post_send(
                    sends.get(), {sge(in.data(), kBytes, in_mr->lkey)},
                    {.opcode = IBV_WR_RDMA_READ, .remote = board.address, .rkey = board.rkey});
                while (!sender.poll()) {
                }
            }
        });
        parent_connects(side, qp.get(), board);
        const uint64_t before = joined();
        while (joined() < before + 20) side.poll();
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds{random() % 2000};
        while (std::chrono::steady_clock::now() < until) side.poll();
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

TEST_CASE("what is asked for without right is not done") {
    Side side;
    std::vector<uint32_t> memory = numbers(1);
    const verbs::Mr mr = side.register_memory(memory.data(), kBytes, IBV_ACCESS_LOCAL_WRITE);
    soft::Process& process = *soft::Process::current();
    soft::Arena& arena = process.view().header();
    soft::JointCopy& copy = arena.joint_copies[0];
    for (const uint64_t who : {process.node().identity() | 1, uint64_t{4095} << 52 | 1}) {
        copy.who = who;
        copy.outward = 1;
        copy.key = mr->rkey;
        copy.access = IBV_ACCESS_REMOTE_WRITE;
        copy.piece = 0;
        copy.address = reinterpret_cast<uint64_t>(memory.data());
        copy.length = kBytes;
        copy.state = soft::kJointOpen;
        arena.asked.what = 1;
        CHECK(!side.poll());
        CHECK(arena.asked.what == 0);
        CHECK(copy.state == 0);
        copy.who = 0;
    }
    CHECK(memory == numbers(1));
}
