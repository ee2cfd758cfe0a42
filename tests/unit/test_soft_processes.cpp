// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The soft device between processes.

#include "fork.hpp"
#include "softrc/arena.hpp"
#include "softrc/context.hpp"
#include "tests/forks.hpp"
#include "tests/no_process_vm.hpp"
#include "tests/sanitized.hpp"

#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <random>
#include <sys/resource.h>
#include <thread>

using namespace rig;

namespace {

// Everything that reaches into the other's private memory, both ways.
void exchange_privately(const std::function<void()>& set_child_up = [] {}) {
    constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                         IBV_ACCESS_REMOTE_ATOMIC;
    constexpr size_t kBytes = 200'000;
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] {
        set_child_up();
        Side side;
        const verbs::Qp qp = side.make_qp();
        std::vector<char> secret(kBytes, 's'), in(100);
        *reinterpret_cast<uint64_t*>(secret.data()) = 40;
        const verbs::Mr mr = side.register_memory(secret.data(), secret.size(), kAll);
        const verbs::Mr in_mr = side.register_memory(in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE);
        side.post_receive(1, in.data(), 100, in_mr->lkey);
        board.address = reinterpret_cast<uint64_t>(secret.data());
        board.rkey = mr->rkey;
        child_connects(side, qp.get(), board);
        while (!side.poll()) sched_yield();
        side.post_send(qp.get(), {sge(in.data(), 5, in_mr->lkey)}, {});
        while (!board.done) sched_yield();
        // What was written and added has come.
        if (secret[kBytes - 1] != 'w' || *reinterpret_cast<uint64_t*>(secret.data()) != 42)
            _exit(1);
    });
    Side side;
    const verbs::Qp qp = side.make_qp();
    std::vector<char> in(kBytes);
    const verbs::Mr mr = side.register_memory(in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE);
    REQUIRE(side.post_receive(7, in.data(), 100, mr->lkey) == 0);
    parent_connects(side, qp.get(), board);
    char hello[] = "hello";
    REQUIRE(side.post_send(qp.get(), {sge(hello, 5, 0)}, {.flags = IBV_SEND_INLINE}) == 0);
    REQUIRE(side.wait().wr_id == 7);
    REQUIRE(std::memcmp(in.data(), hello, 5) == 0);
    REQUIRE(side.post_send(
                qp.get(), {sge(in.data(), in.size(), mr->lkey)},
                {.opcode = IBV_WR_RDMA_READ, .remote = board.address, .rkey = board.rkey}) == 0);
    REQUIRE(side.wait().status == IBV_WC_SUCCESS);
    REQUIRE(in[8] == 's');
    REQUIRE(in.back() == 's');
    REQUIRE(side.post_send(qp.get(), {sge(in.data(), 8, mr->lkey)},
                           {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                            .remote = board.address,
                            .rkey = board.rkey,
                            .add = 2}) == 0);
    REQUIRE(side.wait().status == IBV_WC_SUCCESS);
    REQUIRE(*reinterpret_cast<uint64_t*>(in.data()) == 40);
    std::ranges::fill(in, 'w');
    REQUIRE(side.post_send(
                qp.get(), {sge(in.data(), in.size() - 8, mr->lkey)},
                {.opcode = IBV_WR_RDMA_WRITE, .remote = board.address + 8, .rkey = board.rkey}) ==
            0);
    REQUIRE(side.wait().status == IBV_WC_SUCCESS);
    board.done = true;
    int status = -1;
    waitpid(child, &status, 0);
    REQUIRE(status == 0);
}

} // namespace

TEST_CASE("two processes exchange messages and use each other's private memory" * forks()) {
    exchange_privately();
}

TEST_CASE("so they do where the kernel keeps them out of it" * forks()) {
    const pid_t child = fork_child([] {
        forbid_process_vm();
        exchange_privately();
    });
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("so they do where one of them has little address space, and shares little" *
          doctest::skip(kSanitized)) {
    exchange_privately([] {
        constexpr rlim_t kLimit = rlim_t{64} << 30;
        const rlimit limit{kLimit, kLimit};
        if (setrlimit(RLIMIT_AS, &limit) || soft::OwnArena{}.view().size() != kLimit / 128) throw 1;
    });
}

TEST_CASE("who has no descriptor left for a peer is told when it connects, and may again" *
          forks()) {
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] {
        Side side;
        const verbs::Qp qp = side.make_qp();
        char in[8];
        const verbs::Mr mr = side.register_memory(in, sizeof in, IBV_ACCESS_LOCAL_WRITE);
        side.post_receive(1, in, sizeof in, mr->lkey);
        child_connects(side, qp.get(), board);
        if (side.wait().status != IBV_WC_SUCCESS) _exit(1);
    });
    Side side;
    const verbs::Qp qp = side.make_qp();
    const uint32_t peer = await(board.child_qpn);
    REQUIRE(side.to_init(qp.get()) == 0);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const int error = side.to_rtr(qp.get(), peer);
    const auto& node = static_cast<soft::SoftContext&>(side.context()).process().node();
    const auto place = node.find_qp(peer);
    const bool alive = place && node.find_process(place->slot, place->generation);
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(error == EMFILE);
    CHECK(alive); // it is not taken for dead
    CHECK(qp->state == IBV_QPS_INIT);

    REQUIRE(side.to_rtr(qp.get(), peer) == 0);
    REQUIRE(side.to_rts(qp.get()) == 0);
    board.parent_qpn = qp->qp_num;
    while (!board.child_connected) sched_yield();
    char hello[] = "hello";
    REQUIRE(side.post_send(qp.get(), {sge(hello, 5, 0)}, {.flags = IBV_SEND_INLINE}) == 0);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("processes that keep each other out are of two nodes" * forks()) {
    struct Ids {
        std::atomic<int> known{0};
        ibv_gid list[2];
    };
    auto* ids =
        new (mmap(nullptr, sizeof(Ids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
            Ids;
    std::vector<pid_t> children;
    for (auto& id : ids->list)
        children.push_back(fork_child([&] {
            constexpr uid_t kNobody = 65534; // root is kept out of nothing
            if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody)) throw 1;
            prctl(PR_SET_DUMPABLE, 0);
            Side side;
            id = side.context().gid();
            ++ids->known;
            while (ids->known < 2) sched_yield();
        }));
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    CHECK(ids->known == 2);
    CHECK(std::memcmp(ids->list[0].raw, ids->list[1].raw, sizeof ids->list[0].raw) != 0);
    munmap(ids, sizeof(Ids));
}

TEST_CASE("numbers of two processes that create at once interleave, and none is given twice" *
          forks()) {
    struct Numbers {
        std::atomic<int> ready{0};
        std::atomic<uint32_t> list[2][200];
    };
    auto* numbers = new (mmap(nullptr, sizeof(Numbers), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Numbers;
    const Side keep; // so that the children find one node
    std::vector<pid_t> children;
    for (auto& list : numbers->list)
        children.push_back(fork_child([&] {
            Side side;
            ++numbers->ready;
            while (numbers->ready < 2) sched_yield();
            std::vector<verbs::Qp> qps;
            for (auto& number : list) {
                qps.push_back(side.make_qp());
                number = qps.back()->qp_num;
            }
            ++numbers->ready;
            while (numbers->ready < 4) sched_yield();
        }));
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    std::vector<uint32_t> all;
    for (auto& list : numbers->list)
        for (auto& number : list) all.push_back(number);
    std::ranges::sort(all);
    CHECK(std::ranges::adjacent_find(all) == all.end());
    CHECK(all.back() - all.front() == all.size() - 1); // in sequence, over both
    munmap(numbers, sizeof(Numbers));
}
