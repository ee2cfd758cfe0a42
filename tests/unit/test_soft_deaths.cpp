// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Processes on the soft device that are killed, at any instruction.

#include "fork.hpp"
#include "tests/forks.hpp"

#include <dirent.h>
#include <random>
#include <thread>

using namespace rig;

namespace {

size_t entries_of(const char* folder) {
    size_t count = 0;
    DIR* dir = opendir(folder);
    while (dir && readdir(dir)) ++count;
    if (dir) closedir(dir);
    return count;
}
size_t shared_memory_files() { return entries_of("/dev/shm"); }
size_t open_descriptors() { return entries_of("/proc/self/fd"); }

} // namespace

// Senders are killed at random moments of a stream of sends. Whatever they held at that moment,
// afterwards every receive has completed once or is still posted, and nothing is stuck.
TEST_CASE("a sender that is killed leaves nothing behind" * forks()) {
    constexpr uint32_t kReceives = 8;
    const size_t files_before = shared_memory_files();
    Side side{{.receives = kReceives}};
    std::vector<char> in(kReceives * 4096);
    const verbs::Mr mr = side.register_memory(in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE);
    auto post = [&](uint64_t i) {
        REQUIRE(side.post_receive(i, in.data() + i * 4096, 4096, mr->lkey) == 0);
    };
    for (uint64_t i = 0; i < kReceives; ++i) post(i);

    std::mt19937 random{3};
    uint64_t received = 0, lost = 0;
    for (int round = 0; round < kForks; ++round) {
        BoardMemory memory;
        Board& board = *memory.board;
        const pid_t child = fork_child([&] {
            Side sender{{.completions = 4096, .sends = 1024}};
            const verbs::Qp qp = sender.make_qp();
            child_connects(sender, qp.get(), board);
            std::vector<char> data(4096);
            const verbs::Mr data_mr = sender.register_memory(data.data(), data.size(), 0);
            for (size_t i = 0;; ++i) {
                sender.post_send(qp.get(), {sge(data.data(), i % 4096, data_mr->lkey)}, {});
                while (sender.poll()) {
                }
            }
        });
        verbs::Qp qp = side.make_qp();
        parent_connects(side, qp.get(), board);
        auto take_all = [&] {
            while (const auto wc = side.poll()) {
                ++(wc->status == IBV_WC_SUCCESS ? received : lost);
                post(wc->wr_id); // throws if it was posted already: the queue would be over-full
            }
        };
        const uint64_t before = received;
        while (received == before) {
            take_all();
            sched_yield();
        }
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds{random() % 3000};
        while (std::chrono::steady_clock::now() < until) {
            take_all();
            sched_yield();
        }
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        REQUIRE(side.to_error(qp.get()) == 0); // from here on nothing more comes in
        take_all();
        qp = verbs::Qp{};
    }
    MESSAGE(received << " messages received, " << lost << " lost half-way");
    CHECK(received > uint64_t{kForks});

    // All receives are posted again: exactly so many messages can come.
    Side local;
    const verbs::Qp from = local.make_qp(), to = side.make_qp();
    local.connect(from.get(), to->qp_num);
    side.connect(to.get(), from->qp_num);
    char byte = 0;
    for (uint32_t i = 0; i < kReceives + 1; ++i)
        REQUIRE(local.post_send(from.get(), {sge(&byte, 1, 0)},
                                {.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}) == 0);
    std::vector<bool> seen(kReceives);
    for (uint32_t i = 0; i < kReceives; ++i) {
        const ibv_wc wc = side.wait();
        CHECK(wc.status == IBV_WC_SUCCESS);
        CHECK_FALSE(seen[wc.wr_id]);
        seen[wc.wr_id] = true;
    }
    CHECK_FALSE(side.poll());
    CHECK(shared_memory_files() == files_before);
}

// Receivers are killed at random moments while all kinds of operations go on in their memory. Who
// talks to them is told in bounded time, and keeps nothing of them.
TEST_CASE("a receiver that is killed fails its senders in bounded time" * forks()) {
    constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                         IBV_ACCESS_REMOTE_ATOMIC;
    constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                          IBV_WR_ATOMIC_FETCH_AND_ADD};
    Side side;
    std::vector<char> bytes(65536);
    const verbs::Mr mr = side.register_memory(bytes.data(), bytes.size(), kAll);
    std::mt19937 random{4};
    size_t descriptors = 0;
    for (int round = 0; round < kForks; ++round) {
        BoardMemory memory;
        Board& board = *memory.board;
        const pid_t child = fork_child([&] {
            Side receiver;
            const verbs::Qp qp = receiver.make_qp();
            std::vector<char> in(65536);
            const verbs::Mr in_mr = receiver.register_memory(in.data(), in.size(), kAll);
            board.address = reinterpret_cast<uint64_t>(in.data());
            board.rkey = in_mr->rkey;
            for (int i = 0; i < 16; ++i) receiver.post_receive(1, in.data(), 65536, in_mr->lkey);
            child_connects(receiver, qp.get(), board);
            for (;;)
                while (receiver.poll()) receiver.post_receive(1, in.data(), 65536, in_mr->lkey);
        });
        const verbs::Qp qp = side.make_qp();
        parent_connects(side, qp.get(), board);
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds{random() % 2000};
        bool killed = false;
        for (;;) {
            if (!killed && std::chrono::steady_clock::now() > until) {
                kill(child, SIGKILL);
                killed = true;
            }
            const ibv_wr_opcode opcode = kOpcodes[random() % std::size(kOpcodes)];
            const size_t size = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : random() % 65536;
            REQUIRE(
                side.post_send(
                    qp.get(), {sge(bytes.data(), size, mr->lkey)},
                    {.opcode = opcode, .remote = board.address, .rkey = board.rkey, .add = 1}) ==
                0);
            const ibv_wc wc = side.wait();
            if (wc.status == IBV_WC_SUCCESS) continue;
            REQUIRE(killed);
            REQUIRE(wc.status == IBV_WC_RETRY_EXC_ERR);
            break;
        }
        waitpid(child, nullptr, 0);
        if (round == 0) descriptors = open_descriptors();
    }
    CHECK(open_descriptors() <= descriptors);
}

TEST_CASE("who waits for a receiver in vain hears of its death" * forks()) {
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] {
        Side side;
        const verbs::Qp qp = side.make_qp();
        child_connects(side, qp.get(), board);
        for (;;) pause();
    });
    Side side;
    const verbs::Qp qp = side.make_qp();
    parent_connects(side, qp.get(), board);
    char byte = 0;
    const auto send = [&] {
        return side.post_send(qp.get(), {sge(&byte, 1, 0)},
                              {.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED});
    };
    REQUIRE(send() == 0); // waits for a receive, for ever
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    CHECK_FALSE(side.poll());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(side.wait().status == IBV_WC_RETRY_EXC_ERR);
    REQUIRE(send() == 0);
    CHECK(side.wait().status == IBV_WC_WR_FLUSH_ERR);
}
