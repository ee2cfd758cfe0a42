// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who may come near the soft device's memory, and what a process that scribbles over it can do to
// the others: nothing but errors.

#include "fork.hpp"
#include "soft_rig.hpp"
#include "softrc/context.hpp"
#include "tests/forks.hpp"

#include <random>

using namespace rig;

namespace {

constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                     IBV_ACCESS_REMOTE_ATOMIC;

soft::OwnArena& arena_of(Side& side) {
    return static_cast<soft::SoftContext&>(side.context()).process().arena();
}

// Writes random words, of the kinds that are found there and worse, over all that the arena's
// owner shares, for as long as it lives.
[[noreturn]] void scribble(std::byte* arena, uint32_t seed) {
    std::mt19937_64 random{seed};
    constexpr size_t kUsed = sizeof(soft::Arena) + (1 << 20);
    for (;;) {
        const size_t at = random() % (kUsed / 8) * 8;
        auto& word = *reinterpret_cast<volatile uint64_t*>(arena + at);
        switch (random() % 4) {
        case 0:
            word = random();
            break;
        case 1:
            word = random() % 64;
            break;
        case 2:
            word = word ^ (uint64_t{1} << random() % 64);
            break;
        default:
            word = ~uint64_t{0};
        }
    }
}

// Every kind of operation on whoever is at the other end, for a while, come what may.
void use(Side& side, ibv_qp* qp, std::vector<char>& memory, const verbs::Mr& mr, uint64_t remote,
         uint32_t rkey) {
    constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                          IBV_WR_ATOMIC_FETCH_AND_ADD};
    std::mt19937 random{1};
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{300};
    while (std::chrono::steady_clock::now() < end) {
        const ibv_wr_opcode opcode = kOpcodes[random() % std::size(kOpcodes)];
        const size_t bytes = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : random() % memory.size();
        side.post_send(qp, {sge(memory.data(), bytes, mr->lkey)},
                       {.opcode = opcode, .remote = remote, .rkey = rkey, .add = 1});
        side.post_receive(random(), memory.data(), 4096, mr->lkey);
        while (side.poll()) {
        }
        ibv_qp_attr attr;
        ibv_qp_init_attr init;
        static_cast<soft::SoftContext&>(side.context()).query_qp(qp, &attr, 0, &init);
        if (attr.qp_state == IBV_QPS_ERR) return;
    }
}

} // namespace

TEST_CASE("a peer that scribbles over its shared memory makes errors, and no more" * forks()) {
    constexpr uint32_t kRounds = 20;
    for (uint32_t round = 0; round < kRounds; ++round) {
        BoardMemory memory;
        Board& board = *memory.board;
        const pid_t attacker = fork_child([&] {
            Side side;
            const verbs::Qp qp = side.make_qp();
            std::vector<char> bytes(8192);
            const verbs::Mr mr = side.register_memory(bytes.data(), bytes.size(), kAll);
            for (int i = 0; i < 8; ++i) side.post_receive(1, bytes.data(), 4096, mr->lkey);
            board.address = reinterpret_cast<uint64_t>(bytes.data());
            board.rkey = mr->rkey;
            child_connects(side, qp.get(), board);
            scribble(arena_of(side).at<std::byte>(0), round);
        });
        const pid_t victim = fork_child([&] {
            {
                Side side;
                verbs::Qp qp = side.make_qp();
                std::vector<char> bytes(4096);
                const verbs::Mr mr = side.register_memory(bytes.data(), bytes.size(), kAll);
                parent_connects(side, qp.get(), board);
                use(side, qp.get(), bytes, mr, board.address, board.rkey);
                kill(attacker, SIGKILL);
            }
            // And it has come to no harm.
            Pair honest;
            REQUIRE(honest.b.post_receive(5, honest.in_b.data(), 64, honest.mb->lkey) == 0);
            REQUIRE(honest.a.post_send(honest.qa.get(),
                                       {sge(honest.in_a.data(), 8, honest.ma->lkey)}, {}) == 0);
            REQUIRE(honest.b.wait().wr_id == 5);
        });
        int status = -1;
        waitpid(victim, &status, 0);
        CHECK(status == 0);
        waitpid(attacker, nullptr, 0);
    }
}

TEST_CASE("another user's processes are kept out, and have a node of their own" * forks()) {
    if (geteuid() != 0) {
        MESSAGE("not tested: only root can become another user");
        return;
    }
    constexpr uid_t kNobody = 65534;
    const Side mine;
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] {
        REQUIRE(setresuid(kNobody, kNobody, kNobody) == 0);
        Side side;
        const ibv_gid gid = side.context().gid();
        board.address = gid.global.interface_id;
        // Nor can it open what the other one shares.
        const auto path = "/proc/" + std::to_string(getppid()) + "/fd";
        REQUIRE(access(path.c_str(), R_OK) != 0);
    });
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    Side other;
    CHECK(other.context().gid().global.interface_id != board.address);
    CHECK(board.address != 0);
}
