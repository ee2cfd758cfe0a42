// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whether who looks again and again feels others who want its processor.

#include "base/clock.hpp"
#include "base/crowd.hpp"
#include "fork.hpp"
#include "tests/forks.hpp"

#include <doctest/doctest.h>

using namespace odrc;

namespace {

uint64_t switches = 0, asked = 0, yields = 0;
std::chrono::microseconds away{5}; // by a yield

uint64_t told() noexcept {
    ++asked;
    return switches;
}
std::chrono::nanoseconds yield() noexcept {
    ++yields;
    return away;
}

// So many looks in vain; how many of them yielded.
uint64_t looks(Crowd& crowd, int n) {
    const uint64_t before = yields;
    for (int i = 0; i < n; ++i) crowd.in_vain();
    return yields - before;
}

// The calling thread, and whom it forks meanwhile, on one processor.
class Pinned {
public:
    Pinned() {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_;
};

} // namespace

TEST_CASE("who is never interrupted does not yield, and who finds something asks nothing") {
    Crowd crowd{told, yield};
    asked = 0;
    CHECK(looks(crowd, 10 * 1024) == 0);
    CHECK(asked == 10);
    for (int i = 0; i < 100; ++i) {
        CHECK(looks(crowd, 1023) == 0);
        crowd.found();
    }
    CHECK(asked == 10);
}

TEST_CASE("who was interrupted yields for a while, and as long as that goes to others") {
    Crowd crowd{told, yield};
    ++switches;
    CHECK(looks(crowd, 1023) == 0);
    CHECK(looks(crowd, 1) == 1);
    CHECK(looks(crowd, 63) == 63); // once, by chance
    CHECK(looks(crowd, 1) == 0);
    ++switches;
    looks(crowd, 1024);
    for (int i = 0; i < 100; ++i) {
        switches += 8;
        CHECK(looks(crowd, 64) == 64);
        crowd.found(); // which says nothing of others
    }
    CHECK(looks(crowd, 64) == 63);
}

TEST_CASE("who keeps the processor is not yielded to, the less often the more often it is met") {
    Crowd crowd{told, yield};
    away = std::chrono::milliseconds{3};
    int alone = 1024;
    for (int i = 0; i < 20; ++i) {
        ++switches;
        CHECK(looks(crowd, alone - 1) == 0);
        CHECK(looks(crowd, 1) == 1);
        crowd.found();
        alone = std::min(2 * alone, 1024 << 10);
    }
    away = std::chrono::microseconds{5};
    ++switches;
    CHECK(looks(crowd, alone) == 1);
    switches += 8;
    CHECK(looks(crowd, 64) == 64); // all of whom gave it back soon
    CHECK(looks(crowd, 64) == 63);
    ++switches;
    CHECK(looks(crowd, 1024) == 1);
}

TEST_CASE("a process that has a processor to itself, and then shares it, feels the other one" *
          forks()) {
    const Pinned pinned;
    Crowd crowd{switches_to_others, yield};
    const pid_t other = rig::fork_child([] {
        for (;;) asm volatile("");
    });
    const Time until = Clock::now() + std::chrono::minutes{1}; // it is interrupted long before
    bool felt = false;
    while (!felt && Clock::now() < until) felt = looks(crowd, 1024) > 0;
    CHECK(felt);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
}
