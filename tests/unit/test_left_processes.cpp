// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Processes that no queue pair is connected to any more.

#include "fork.hpp"
#include "softrc/process.hpp"
#include "tests/forks.hpp"

#include <fcntl.h>
#include <fstream>
#include <list>
#include <sys/resource.h>

using namespace rig;

namespace {

// A process with a queue pair, until it is told to end.
class Other {
public:
    Other()
        : pid_{fork_child([this] {
            Side side;
            const verbs::Qp qp = side.make_qp();
            board_.child_qpn = qp->qp_num;
            while (!board_.done) sched_yield();
        })} {}
    ~Other() { end(); }
    Other(const Other&) = delete;
    Other& operator=(const Other&) = delete;

    uint32_t qp_num() { return await(board_.child_qpn); }
    void end() {
        board_.done = true;
        if (pid_ > 0) waitpid(std::exchange(pid_, 0), nullptr, 0);
    }

private:
    BoardMemory memory_;
    Board& board_{*memory_.board};
    pid_t pid_;
};

// A queue pair is connected to it and gone again. Gives 0 or an error, as ibv_modify_qp(3).
int visit(Side& side, Other& other) {
    const verbs::Qp qp = side.make_qp();
    REQUIRE(side.to_init(qp.get()) == 0);
    return side.to_rtr(qp.get(), other.qp_num());
}

// Other processes' memory that is mapped here.
size_t arenas() {
    std::ifstream maps{"/proc/self/maps"};
    size_t count = 0;
    for (std::string line; std::getline(maps, line);)
        count += line.find("odrc-arena") != std::string::npos;
    return count;
}

} // namespace

TEST_CASE("who is connected to again is known from before" * forks()) {
    Other other;
    Side side;
    soft::Process& process = *soft::Process::current();
    const uint32_t there = other.qp_num();
    const auto place = process.node().find_qp(there);
    REQUIRE(place);
    const size_t before = arenas();
    REQUIRE(visit(side, other) == 0);
    CHECK(arenas() == before + 1);
    while (process.peer(*place)->may_have_new_pages()) {
    }
    REQUIRE(visit(side, other) == 0);
    CHECK(arenas() == before + 1);
    CHECK_FALSE(process.peer(*place)->may_have_new_pages());
}

TEST_CASE("of those that are left, some stay, and none that has died" * forks()) {
    std::list<Other> others(soft::LeftProcesses::kMost + 3);
    Side side;
    const size_t before = arenas();
    for (Other& other : others) REQUIRE(visit(side, other) == 0);
    CHECK(arenas() == before + soft::LeftProcesses::kMost);
    for (Other& other : others) other.end();
    for (int tries = 0; arenas() > before && tries < 10000; ++tries) usleep(1000);
    CHECK(arenas() == before);
}

TEST_CASE("they give way to one for which there is no descriptor" * forks()) {
    Other left, next;
    Side side;
    left.qp_num();
    next.qp_num();
    REQUIRE(visit(side, left) == 0);
    const size_t before = arenas();
    const int free = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    close(free);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit one_more{static_cast<rlim_t>(free) + 1, limit.rlim_max}; // and it takes two
    setrlimit(RLIMIT_NOFILE, &one_more);
    const int error = visit(side, next);
    setrlimit(RLIMIT_NOFILE, &limit);
    CHECK(error == 0);
    CHECK(arenas() == before);
}
