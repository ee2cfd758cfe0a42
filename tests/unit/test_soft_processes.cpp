// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The soft device between processes, and when they die.

#include "soft_rig.hpp"
#include "tests/forks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dirent.h>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <random>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

using namespace rig;

namespace {

// What parent and child tell each other.
struct Board {
    std::atomic<uint32_t> parent_qpn{0}, child_qpn{0};
    std::atomic<uint64_t> address{0};
    std::atomic<uint32_t> rkey{0};
    std::atomic<bool> done{false};
};

struct BoardMemory {
    Board* board = new (mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Board;
    ~BoardMemory() { munmap(board, sizeof(Board)); }
};

uint32_t await(std::atomic<uint32_t>& value) {
    while (value == 0) sched_yield();
    return value;
}

pid_t fork_child(const std::function<void()>& body) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        body();
    } catch (...) { // a check that the test cannot do without
        _exit(1);
    }
    _exit(0);
}

void child_connects(Side& side, ibv_qp* qp, Board& board) {
    board.child_qpn = qp->qp_num;
    side.to_init(qp);
    side.to_rtr(qp, await(board.parent_qpn));
    side.to_rts(qp);
}

size_t shared_memory_files() {
    size_t count = 0;
    DIR* dir = opendir("/dev/shm");
    while (dir && readdir(dir)) ++count;
    if (dir) closedir(dir);
    return count;
}

} // namespace

namespace {

// Everything that reaches into the other's private memory, both ways.
void exchange_privately() {
    constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                         IBV_ACCESS_REMOTE_ATOMIC;
    constexpr size_t kBytes = 200'000;
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] {
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
    side.connect(qp.get(), await(board.child_qpn));
    board.parent_qpn = qp->qp_num;
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

// As a sandbox that keeps processes out of each other's memory.
void forbid_process_vm() {
    const sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(filter), const_cast<sock_filter*>(filter)};
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
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
    for (int round = 0; round < 150; ++round) {
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
        const uint32_t peer = await(board.child_qpn);
        side.connect(qp.get(), peer);
        board.parent_qpn = qp->qp_num;
        auto take_all = [&] {
            while (const auto wc = side.poll()) {
                ++(wc->status == IBV_WC_SUCCESS ? received : lost);
                post(wc->wr_id); // throws if it was posted already: the queue would be over-full
            }
        };
        for (const uint64_t before = received; received == before; sched_yield()) take_all();
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
    CHECK(received > 1000);

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

TEST_CASE("a receiver that is killed fails its senders in bounded time" * forks()) {
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] {
        Side side;
        const verbs::Qp qp = side.make_qp();
        child_connects(side, qp.get(), board);
        board.done = true;
        for (;;) pause();
    });
    Side side;
    const verbs::Qp qp = side.make_qp();
    side.connect(qp.get(), await(board.child_qpn));
    board.parent_qpn = qp->qp_num;
    while (!board.done) sched_yield();
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
