// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tests/fuzz/wireup.hpp"

#include <doctest/doctest.h>
#include <random>

using namespace fuzz;

TEST_CASE("a datagram of random bytes is taken apart or refused, and never read past its end") {
    std::mt19937 random{1};
    const WireupDatagram right =
        encode({.type = WireupType::request,
                .endpoint = 1,
                .to = 2,
                .ticket = 3,
                .attempt = 4,
                .answered_attempt = 5,
                .losses = 6,
                .received = 0,
                .reason = 7,
                .qp = {.qpn = 8, .psn = 9, .lid = 10, .mtu = 5, .rd_atomic = 11, .gid = {}},
                .wants_events = 1,
                .window = 64,
                .node = 12});
    size_t taken = 0;
    for (int i = 0; i < 300'000; ++i) {
        // On the heap in its exact size, where a sanitizer sees a read past the end.
        std::vector<std::byte> bytes(right.begin(), right.end());
        for (auto flips = random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] ^= std::byte(1 << random() % 8);
        if (i % 4 == 0) bytes.resize(random() % (2 * kWireupBytes));
        bytes.shrink_to_fit();
        const auto message = decode(bytes);
        if (!message) continue;
        ++taken;
        const WireupDatagram again = encode(*message);
        CHECK(std::equal(again.begin(), again.end() - Seal::kBytes, bytes.begin()));
    }
    CHECK(taken > 10'000);
}

TEST_CASE("whatever is said, in whatever order, a wireup keeps to its bounds") {
    std::mt19937 random{2};
    constexpr uint64_t kRounds = 40;
    uint64_t made = 0;
    for (uint64_t round = 0; round < kRounds; ++round) {
        Talk talk{round % 2 ? "k" : ""};
        for (int i = 0; i < 2500; ++i) {
            Saying saying;
            for (std::byte& b : saying.bytes) b = std::byte(random());
            // Most are right in most ways: else few would be listened to.
            saying.made_right = static_cast<uint8_t>(random() | random() | random());
            if (random() % 8) saying.made_right &= static_cast<uint8_t>(~kHeadless);
            if (random() % 8) saying.made_right &= static_cast<uint8_t>(~kNamed);
            saying.made_right =
                static_cast<uint8_t>((saying.made_right & ~kSender) | random() % 4 << 6);
            talk.say(saying);
        }
        made += talk.connections_made();
    }
    MESSAGE(made << " connections");
    CHECK(made > 10 * kRounds); // it did not just refuse
}
