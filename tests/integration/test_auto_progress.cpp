// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// FI_PROGRESS_AUTO of fi_domain(3): a process that sleeps is as good a peer as one that polls,
// and one that polls is left alone.

#include "atomics.hpp"
#include "far.hpp"
#include "statistics.hpp"
#include "tests/forks.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

using namespace duo;
using std::chrono::milliseconds;

namespace {

Wishes automatic(fi_threading threading, fi_wait_obj wait = FI_WAIT_NONE) {
    Wishes wishes = kAtomicWishes;
    wishes.threading = threading;
    wishes.wait = wait;
    wishes.data_progress = FI_PROGRESS_AUTO;
    return wishes;
}

// What a process offers to its peers before it goes to sleep.
struct Offer {
    uint64_t address, key;
};

void sleep_with(Board& board, const Shared& memory) {
    const Offer offer{memory.at(0), memory.key()};
    std::memcpy(board.name, &offer, sizeof offer);
    board.step = 3;
    for (;;) pause();
}

Offer offer_of(Child& child) {
    child.await(3);
    Offer offer;
    std::memcpy(&offer, child.board->name, sizeof offer);
    return offer;
}

// How often the provider's own threads of a process have gone to sleep.
long sleeps(pid_t process) {
    long sum = 0;
    const auto tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& task : std::filesystem::directory_iterator{tasks}) {
        std::string line;
        if (!std::getline(std::ifstream{task.path() / "comm"}, line) || line != "odrc-watchdog")
            continue;
        std::ifstream status{task.path() / "status"};
        while (std::getline(status, line))
            if (line.starts_with("voluntary_ctxt_switches:"))
                sum += std::stol(line.substr(line.find(':') + 1));
    }
    return sum;
}

constexpr fi_threading kLevels[] = {FI_THREAD_SAFE, FI_THREAD_DOMAIN};
constexpr size_t kLong = 100'000;

} // namespace

TEST_CASE("a process that sleeps serves everything, and then costs nothing" * forks()) {
    for (const auto threading : kLevels) {
        CAPTURE(int{threading});
        Child child{[&](Board& board) {
            Far far{board, automatic(threading)};
            const Shared memory{far.side, kLong};
            std::vector<char> in(kLong);
            int context = 0;
            fi_recv(far.side.ep(), in.data(), kLong, nullptr, FI_ADDR_UNSPEC, &context);
            sleep_with(board, memory);
        }};
        Watched near{automatic(threading)};
        const fi_addr_t to = meet(near, child);
        const Offer there = offer_of(child);
        // It reads the message that was announced to it.
        const auto out = pattern(kLong, 'a');
        int context = 0;
        REQUIRE(fi_send(near.ep(), out.data(), kLong, nullptr, to, &context) == 0);
        CHECK_FALSE(outcome(near, &context).error);
        // It confirms a write.
        const iovec iov{const_cast<char*>(out.data()), kLong};
        const fi_rma_iov remote{there.address, kLong, there.key};
        const fi_msg_rma write = rma_message(to, {&iov, 1}, {&remote, 1}, &context, 1);
        const uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA;
        REQUIRE(fi_writemsg(near.ep(), &write, flags) == 0);
        CHECK_FALSE(outcome(near, &context).error);
        // It adds.
        uint64_t one = 1, before = 0, first = 0;
        std::memcpy(&first, out.data(), sizeof first);
        for (uint64_t i = 0; i < 20; ++i) {
            REQUIRE(fi_fetch_atomic(near.ep(), &one, 1, nullptr, &before, nullptr, to,
                                    there.address, there.key, FI_UINT64, FI_SUM, &context) == 0);
            CHECK_FALSE(outcome(near, &context).error);
            CHECK(before == first + i);
        }
        // It takes in more messages than it has buffers for, though it wants none of them.
        for (int i = 0; i < 2000; ++i) {
            ssize_t sent;
            while ((sent = fi_send(near.ep(), "x", 1, nullptr, to, &context)) == -FI_EAGAIN)
                near.poll();
            REQUIRE(sent == 0);
        }
        for (int i = 0; i < 2000; ++i) CHECK_FALSE(outcome(near, &context).error);
        // When nobody wants anything of it any more, nothing in it wakes.
        const auto end = Clock::now() + kPatience;
        for (long last = -1, now; (now = sleeps(child.pid())) != last; last = now) {
            REQUIRE(Clock::now() < end);
            std::this_thread::sleep_for(milliseconds{50});
        }
    }
}

TEST_CASE("what a process began before it went to sleep goes on" * forks()) {
    for (const auto threading : kLevels) {
        CAPTURE(int{threading});
        const auto out = pattern(kLong, 'b');
        Child child{[&](Board& board) {
            Far far{board, automatic(threading)};
            int context = 0;
            fi_tsend(far.side.ep(), out.data(), kLong, nullptr, far.peer, 1, &context);
            // Goes out when the sender has heard that the first one was received.
            const iovec iov{const_cast<char*>(out.data()), 10};
            fi_msg_tagged behind{};
            behind.msg_iov = &iov;
            behind.iov_count = 1;
            behind.addr = far.peer;
            behind.tag = 2;
            fi_tsendmsg(far.side.ep(), &behind, FI_FENCE);
            for (;;) pause();
        }};
        Watched near{automatic(threading)};
        meet(near, child);
        std::vector<char> in(kLong);
        char more[10];
        int first = 0, second = 0;
        REQUIRE(fi_trecv(near.ep(), in.data(), kLong, nullptr, FI_ADDR_UNSPEC, 1, 0, &first) == 0);
        REQUIRE(fi_trecv(near.ep(), more, 10, nullptr, FI_ADDR_UNSPEC, 2, 0, &second) == 0);
        CHECK_FALSE(outcome(near, &second).error);
        CHECK(near.take(&first));
        CHECK(in == out);
    }
}

TEST_CASE("a program that polls is left alone") {
    for (const auto threading : kLevels) {
        CAPTURE(int{threading});
        Duo d{automatic(threading)};
        int sending = 0, receiving = 0;
        char in = 0;
        const long before = sleeps(getpid());
        const auto begin = Clock::now();
        const auto elapsed = [&] { return (Clock::now() - begin) / milliseconds{1}; };
        int messages = 0;
        for (; messages < 1000 || elapsed() < 100; ++messages) {
            REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
            REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
            CHECK_FALSE(d.outcome(d.b, &receiving).error);
            CHECK_FALSE(d.outcome(d.a, &sending).error);
        }
        // Two watchdogs that look every 5 ms whether somebody polls, and more often when the
        // system keeps the program from it; by the messages each of them would for each of these.
        CHECK(sleeps(getpid()) - before < 2 * elapsed() + messages / 2);
    }
}

TEST_CASE("a program that polls in vain is not looked at") {
    Duo d{automatic(FI_THREAD_SAFE)};
    int sending = 0, receiving = 0;
    char in = 0;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    const auto end = Clock::now() + kPatience;
    const auto polls_for = [&](milliseconds time) {
        for (const auto begin = Clock::now(); Clock::now() - begin < time;) d.poll();
    };
    for (long last = -1, now; (now = sleeps(getpid())) != last; last = now) {
        REQUIRE(Clock::now() < end);
        polls_for(milliseconds{100});
    }
    // And then it takes in what comes when the program does not.
    const uint64_t before = statistics_of(d.b).watchdog_batches;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
    while (statistics_of(d.b).watchdog_batches == before) {
        REQUIRE(Clock::now() < end);
        sched_yield();
    }
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
}

TEST_CASE("for how long what comes is left to the program is told, where it is left to anybody") {
    Duo d{automatic(FI_THREAD_SAFE)};
    CHECK(statistics_of(d.a).watchdog_patience_ns == 0); // nothing has come yet
    char in = 0;
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
    const auto told = [](const Watched& side) { return statistics_of(side).watchdog_patience_ns; };
    poll_until(d, [&] { return told(d.a) > 0 && told(d.b) > 0; });
    const uint64_t patience = told(d.a);
    CHECK(patience >= 20'000);
    CHECK(patience <= 1'000'000);
    CHECK(statistics_of(d.b).watchdog_patience_ns == patience); // measured once
}

TEST_CASE("threads sleep on a queue of an endpoint that progresses by itself") {
    for (const auto wait : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD}) {
        CAPTURE(int{wait});
        Duo d{automatic(FI_THREAD_SAFE, wait)};
        const auto next = [](Watched& side) {
            fi_cq_tagged_entry entry;
            return fi_cq_sread(side.endpoint.cq(), &entry, 1, nullptr, 20'000);
        };
        std::vector<char> out = pattern(kLong, 'c'), in(kLong);
        std::thread echo{[&] {
            for (int i = 0; i < 200; ++i) {
                const size_t size = i % 2 ? 10 : kLong;
                fi_recv(d.b.ep(), in.data(), size, nullptr, FI_ADDR_UNSPEC, nullptr);
                CHECK(next(d.b) == 1);
                fi_send(d.b.ep(), in.data(), size, nullptr, d.to_a, nullptr);
                CHECK(next(d.b) == 1);
            }
        }};
        std::vector<char> back(kLong);
        for (int i = 0; i < 200; ++i) {
            const size_t size = i % 2 ? 10 : kLong;
            REQUIRE(fi_recv(d.a.ep(), back.data(), size, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
            REQUIRE(fi_send(d.a.ep(), out.data(), size, nullptr, d.to_b, nullptr) == 0);
            CHECK(next(d.a) == 1);
            CHECK(next(d.a) == 1);
        }
        echo.join();
        CHECK(back == out);
    }
}
