// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Atomic operations on private memory, which its owner does for the sender if it polls.

#include "fork.hpp"
#include "softrc/process.hpp"
#include "softrc/served_atomic.hpp"
#include "tests/forks.hpp"

#include <random>
#include <sys/mman.h>

using namespace rig;

namespace {

constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

uint64_t served() { return soft::Process::current()->atomics(); }

// What children add to.
struct Owner {
    Side side;
    std::vector<uint64_t> words = std::vector<uint64_t>(512);
    verbs::Mr mr = side.register_memory(words.data(), words.size() * sizeof(uint64_t), kAll);
};

// A process that adds one to the owner's first word, again and again, and is connected when this
// is there. For ever is until it is told that it is enough.
class Adder {
public:
    static constexpr uint64_t kForEver = ~uint64_t{0};

    Adder(Owner& owner, uint64_t times)
        : qp_{owner.side.make_qp()} {
        board().address = reinterpret_cast<uint64_t>(owner.words.data());
        board().rkey = owner.mr->rkey;
        pid_ = fork_child([&] { add(times); });
        parent_connects(owner.side, qp_.get(), board());
    }

    void is_enough() const { board().done = true; }
    int wait() const {
        int status = -1;
        waitpid(pid_, &status, 0);
        return status;
    }
    uint64_t added() const { return board().added; }
    void kill() const {
        ::kill(pid_, SIGKILL);
        wait();
    }

private:
    Board& board() const { return *memory_.board; }

    void add(uint64_t times) {
        Side side;
        const verbs::Qp qp = side.make_qp();
        std::vector<uint64_t> found(1);
        const verbs::Mr mr = side.register_memory(found.data(), sizeof(uint64_t), kAll);
        child_connects(side, qp.get(), board());
        uint64_t before = 0;
        for (uint64_t i = 0; i < times && !board().done; ++i) {
            side.post_send(qp.get(), {sge(found.data(), sizeof(uint64_t), mr->lkey)},
                           {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                            .remote = board().address,
                            .rkey = board().rkey,
                            .add = 1});
            if (side.wait().status != IBV_WC_SUCCESS) _exit(1);
            if (i > 0 && found[0] <= before) _exit(2); // it had gone further than that
            before = found[0];
            ++board().added;
        }
    }

    BoardMemory memory_;
    verbs::Qp qp_;
    pid_t pid_{0};
};

// Asks ourselves, as a sender does, and does not wait.
void ask(soft::Arena& arena, uint32_t key, uint32_t pd, uint64_t address) {
    soft::Asked& asked = arena.asked;
    asked.key = key;
    asked.pd = pd;
    asked.address = address;
    asked.compare = 0;
    asked.operand = 1;
    arena.answer.error = -1;
    asked.what ^= soft::kAtomicTurn;
}

bool is_answered(const soft::Arena& arena) { return arena.answer.turn == arena.asked.what; }

} // namespace

TEST_CASE("who polls does what several senders ask for, or they do it, and none is lost" *
          forks()) {
    constexpr uint64_t kEnough = 10'000; // of either, however the processors are shared
    Owner owner;
    const Adder one{owner, Adder::kForEver}, another{owner, Adder::kForEver};
    const uint64_t before = served();
    const auto added = [&] { return one.added() + another.added(); };
    const auto both = [&] {
        return served() - before >= kEnough / 100 && added() >= served() - before + kEnough;
    };
    const Time until = Clock::now() + std::chrono::minutes{5}; // it takes less than a second
    std::mt19937 random{3};
    while (!both() && Clock::now() < until) {
        for (uint32_t polls = random() % 10'000; polls > 0; --polls) owner.side.poll();
        usleep(random() % 500);
    }
    CHECK(both());
    one.is_enough();
    another.is_enough();
    CHECK(one.wait() == 0);
    CHECK(another.wait() == 0);
    CHECK(owner.words[0] == added());
}

TEST_CASE("who does not poll is not waited for" * forks()) {
    Owner owner;
    const uint64_t before = served();
    CHECK(Adder{owner, 1'000}.wait() == 0);
    CHECK(owner.words[0] == 1'000);
    CHECK(served() == before);
}

TEST_CASE("senders that are killed while they ask leave nothing behind" * forks()) {
    Owner owner;
    std::mt19937 random{5};
    for (int round = 0; round < kForks / 10; ++round) {
        Adder adder{owner, Adder::kForEver};
        const uint64_t before = served();
        // One: where both have to share a processor, most operations are done from outside.
        while (served() == before) owner.side.poll();
        for (uint32_t polls = random() % 3'000; polls > 0; --polls) owner.side.poll();
        adder.kill();
    }
}

// It is killed where a sender has the place, and its parent waits for it before or after.
TEST_CASE("the place of a dead sender is free again, whoever hears of its death first" * forks()) {
    const auto process = soft::Process::open();
    soft::Arena& arena = process->view().header();
    for (const bool reaped_first : {false, true}) {
        BoardMemory memory;
        Board& board = *memory.board;
        const pid_t child = fork_child([&] {
            Side side;
            const verbs::Qp qp = side.make_qp();
            board.address = soft::Process::current()->node().identity();
            child_connects(side, qp.get(), board);
            for (;;) pause();
        });
        Side side;
        {
            const verbs::Qp qp = side.make_qp();
            parent_connects(side, qp.get(), board);
            arena.atomic_sender = board.address | 1;
            kill(child, SIGKILL);
            if (reaped_first) waitpid(child, nullptr, 0);
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
            while (!reaped_first && arena.atomic_sender != 0 &&
                   std::chrono::steady_clock::now() < end)
                sched_yield();
        } // or else who makes an end of the connection sees to it
        CHECK(arena.atomic_sender == 0);
        if (!reaped_first) waitpid(child, nullptr, 0);
    }
}

TEST_CASE("who asks one that is killed is told so" * forks()) {
    std::mt19937 random{7};
    for (int round = 0; round < kForks / 10; ++round) {
        BoardMemory memory;
        Board& board = *memory.board;
        const pid_t child = fork_child([&] {
            Owner owner;
            const verbs::Qp qp = owner.side.make_qp();
            board.address = reinterpret_cast<uint64_t>(owner.words.data());
            board.rkey = owner.mr->rkey;
            child_connects(owner.side, qp.get(), board);
            for (;;) owner.side.poll();
        });
        Side side;
        const verbs::Qp qp = side.make_qp();
        uint64_t found = 0;
        const verbs::Mr mr = side.register_memory(&found, sizeof found, kAll);
        parent_connects(side, qp.get(), board);
        const pid_t killer = fork_child([&] {
            usleep(random() % 2'000);
            kill(child, SIGKILL);
        });
        bool killed = false;
        for (uint64_t i = 0; !killed; ++i) {
            side.post_send(qp.get(), {sge(&found, sizeof found, mr->lkey)},
                           {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                            .remote = board.address,
                            .rkey = board.rkey,
                            .add = 1});
            killed = side.wait().status != IBV_WC_SUCCESS;
            if (!killed) CHECK(found == i);
        }
        waitpid(killer, nullptr, 0);
        waitpid(child, nullptr, 0);
        random();
    }
}

TEST_CASE("who waits for an answer answers others meanwhile" * forks()) {
    BoardMemory memory;
    Board& board = *memory.board;
    const pid_t child = fork_child([&] { // connects, and does not poll
        Owner owner;
        const verbs::Qp qp = owner.side.make_qp();
        board.address = reinterpret_cast<uint64_t>(owner.words.data());
        board.rkey = owner.mr->rkey;
        child_connects(owner.side, qp.get(), board);
        while (!board.done) usleep(1'000);
        if (owner.words[0] != 1) _exit(1);
    });
    Owner owner;
    const verbs::Qp qp = owner.side.make_qp();
    parent_connects(owner.side, qp.get(), board);
    soft::Arena& arena = soft::Process::current()->view().header();
    ask(arena, owner.mr->rkey, arena.regions[owner.mr->rkey >> 8].pd,
        reinterpret_cast<uint64_t>(owner.words.data()));
    REQUIRE(owner.side.post_send(qp.get(), {sge(&owner.words[1], sizeof(uint64_t), owner.mr->lkey)},
                                 {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                                  .remote = board.address,
                                  .rkey = board.rkey,
                                  .add = 1}) == 0);
    CHECK(is_answered(arena));
    CHECK(owner.words[0] == 1);
    CHECK(owner.side.wait().status == IBV_WC_SUCCESS);
    board.done = true;
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("an atomic operation that is asked for without right is not done") {
    Owner owner;
    const verbs::Mr local =
        owner.side.register_memory(owner.words.data(), sizeof(uint64_t), IBV_ACCESS_LOCAL_WRITE);
    soft::Arena& arena = soft::Process::current()->view().header();
    const uint32_t pd = arena.regions[owner.mr->rkey >> 8].pd;
    const auto first = reinterpret_cast<uint64_t>(owner.words.data());
    const auto answer = [&](uint32_t key, uint32_t of_pd, uint64_t address) {
        ask(arena, key, of_pd, address);
        CHECK(!owner.side.poll());
        CHECK(is_answered(arena));
        return arena.answer.error;
    };
    CHECK(answer(local->rkey, pd, first) == EFAULT);
    CHECK(answer(owner.mr->rkey, pd + 1, first) == EFAULT);
    CHECK(answer(owner.mr->rkey, pd, first + 4) == EFAULT);
    CHECK(answer(owner.mr->rkey, pd, first + 512 * sizeof(uint64_t)) == EFAULT);
    CHECK(answer(0, pd, first) == EFAULT);
    CHECK(owner.words == std::vector<uint64_t>(512));
    CHECK(answer(owner.mr->rkey, pd, first) == 0);
    CHECK(owner.words[0] == 1);
}
