// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Endpoints that meet on soft0 beside the device of their domain: here another opening of soft0,
// since nothing else is everywhere.

#include "engine_rig.hpp"

#include <optional>
#include <poll.h>

using namespace odrc;
using namespace engine_rig;

TEST_CASE("endpoints of one host meet on soft0 where both have it, else on the device") {
    for (const bool soft : {true, false}) {
        Pair p{soft};
        int done = 0;
        for (const size_t bytes : {0, 100, 5000, 1 << 20}) {
            const auto sent = some_bytes(bytes);
            std::vector<std::byte> received(bytes);
            p.receive(received);
            p.send(sent);
            ++done;
            p.until(done, done);
            CHECK(received == sent);
        }
        for (const Party* party : {&p.a, &p.b}) {
            CHECK(party->counters().connections_made == 1);
            CHECK(party->counters().connections_soft == soft);
        }
    }
}

TEST_CASE("reads and writes go by the key's half for soft0") {
    Pair p{true};
    std::vector<uint64_t> there(100'000, 5), here(there.size(), 7);
    const Party::Region region{p.b, there};
    p.move(FI_WRITE, here, there.data(), region.key_of_soft());
    p.until(1, 0);
    CHECK(there == here);
    there.assign(there.size(), 9);
    p.move(FI_READ, here, there.data(), region.key_of_soft());
    p.until(2, 0);
    CHECK(there == here);
    CHECK(p.a.counters().connections_soft == 1);
}

TEST_CASE("reads and writes go by the key's half for the device, where the peer is not on soft0") {
    Pair p{false};
    std::vector<uint64_t> there(100'000, 5), here(there.size(), 7);
    const Party::Region region{p.b, there};
    p.move(FI_WRITE, here, there.data(), region.key());
    p.until(1, 0);
    CHECK(there == here);
    CHECK(p.a.counters().connections_soft == 0);
}

TEST_CASE("words are changed by the device, whoever asks over what") {
    Pair p{true};
    std::vector<uint64_t> there{40};
    const Party::Region region{p.b, there};
    uint64_t two = 2, seen = 0;
    const fi_ioc operand{&two, 1}, result{&seen, 1};
    const fi_rma_ioc target{reinterpret_cast<uint64_t>(there.data()), 1, region.key()};
    REQUIRE(p.a.call([&](Engine& e) {
        return e.atomic({AtomicCall::fetch,
                         FI_UINT64,
                         FI_SUM,
                         {&operand, 1},
                         {},
                         {&result, 1},
                         {&target, 1},
                         p.to_b,
                         nullptr,
                         FI_COMPLETION});
    }) == 0);
    p.until(1, 0);
    CHECK(seen == 40);
    CHECK(there[0] == 42);
    CHECK(p.a.counters().connections_soft == 1);
    CHECK(p.a.counters().messages_sent == 0);
}

TEST_CASE("who sleeps is woken by what comes over soft0, the first time and later") {
    Pair p{true};
    const auto sent = some_bytes(8);
    std::vector<std::byte> received(8);
    for (int round = 1; round <= 3; ++round) {
        p.receive(received);
        p.b.call([](Engine& e) { return e.arm(), 0; });
        p.send(sent);
        const auto end = Clock::now() + std::chrono::seconds{20};
        pollfd ready{.fd = p.b.fd(), .events = POLLIN, .revents = 0};
        while (::poll(&ready, 1, 0) == 0) {
            REQUIRE(Clock::now() < end);
            p.a.poll();
        }
        p.until(round, round);
    }
    CHECK(p.b.counters().connections_soft == 1);
}
