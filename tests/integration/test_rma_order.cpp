// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The order of reads and writes: among each other, and behind fences (fi_rma(3), fi_msg(3)).

#include "duo.hpp"

#include <numeric>

using namespace duo;

TEST_CASE("writes take effect in order, and reads and messages see those before them") {
    Duo d{kRmaWishes};
    Shared there{d.b, sizeof(uint64_t)};
    constexpr uint64_t kWrites = 300; // more than a connection has under way
    std::vector<uint64_t> values(kWrites);
    std::iota(values.begin(), values.end(), 1);
    std::vector<uint64_t> seen(kWrites);
    std::vector<int> writing(kWrites), reading(kWrites);
    for (size_t i = 0; i < kWrites; ++i) {
        REQUIRE(fi_write(d.a.ep(), &values[i], 8, nullptr, d.to_b, there.at(0), there.key(),
                         &writing[i]) == 0);
        REQUIRE(fi_read(d.a.ep(), &seen[i], 8, nullptr, d.to_b, there.at(0), there.key(),
                        &reading[i]) == 0);
    }
    char byte = 0;
    int receiving = 0;
    REQUIRE(fi_inject(d.a.ep(), "!", 1, d.to_b) == 0);
    REQUIRE(fi_recv(d.b.ep(), &byte, 1, nullptr, d.to_a, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    uint64_t last = 0;
    std::memcpy(&last, there.bytes.data(), sizeof last);
    CHECK(last == kWrites);
    for (size_t i = 0; i < kWrites; ++i) {
        CHECK_FALSE(d.outcome(d.a, &writing[i]).error);
        CHECK_FALSE(d.outcome(d.a, &reading[i]).error);
        CHECK(seen[i] == values[i]);
    }
}

TEST_CASE("what is fenced begins when all before it to that peer is over, messages too") {
    Duo d{kRmaWishes};
    Shared there{d.b, 8};
    const auto out = pattern(100'000, 'f');
    std::vector<char> in(out.size());
    int sending = 0, fenced = 0, behind = 0, receiving = 0;
    char here[8] = "written";
    REQUIRE(fi_tsend(d.a.ep(), out.data(), out.size(), nullptr, d.to_b, 1, &sending) == 0);
    RmaMessage write{here, 8, d.to_b, there.at(0), there.key(), &fenced};
    REQUIRE(fi_writemsg(d.a.ep(), &write.m, FI_FENCE | FI_COMPLETION) == 0);
    REQUIRE(fi_tsend(d.a.ep(), here, 8, nullptr, d.to_b, 2, &behind) == 0);
    d.settle(50);
    CHECK(d.a.outcomes.empty()); // the message has not been received
    CHECK(there.bytes[0] == 0);
    REQUIRE(fi_trecv(d.b.ep(), in.data(), in.size(), nullptr, d.to_a, 1, 0, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    CHECK_FALSE(d.outcome(d.a, &fenced).error);
    CHECK_FALSE(d.outcome(d.a, &behind).error);
    CHECK(there.bytes[0] == 'w');
    d.outcome(d.b, &receiving);

    const iovec iov{here, 8};
    const fi_msg m{.msg_iov = &iov,
                   .desc = nullptr,
                   .iov_count = 1,
                   .addr = d.to_b,
                   .context = &fenced,
                   .data = 0};
    REQUIRE(fi_sendmsg(d.a.ep(), &m, FI_FENCE | FI_COMPLETION) == 0); // with nothing before it
    CHECK_FALSE(d.outcome(d.a, &fenced).error);
}

TEST_CASE("two sides that fence do not wait for each other's long messages for ever") {
    Duo d{kRmaWishes};
    const auto out = pattern(100'000, 'x');
    struct Side {
        Side(Watched& self, Watched& other, fi_addr_t number)
            : me{self}
            , there{other, 8}
            , to{number} {}
        Watched& me;
        Shared there;
        fi_addr_t to;
        std::vector<char> in = std::vector<char>(100'000);
        int sending = 0, fenced = 0, receiving = 0;
    } sides[2] = {{d.a, d.b, d.to_b}, {d.b, d.a, d.to_a}};
    char here[8] = "crossed";
    for (Side& s : sides) {
        REQUIRE(fi_tsend(s.me.ep(), out.data(), out.size(), nullptr, s.to, 1, &s.sending) == 0);
        RmaMessage write{here, 8, s.to, s.there.at(0), s.there.key(), &s.fenced};
        REQUIRE(fi_writemsg(s.me.ep(), &write.m, FI_FENCE | FI_COMPLETION) == 0);
    }
    d.settle(50);
    for (Side& s : sides)
        REQUIRE(fi_trecv(s.me.ep(), s.in.data(), s.in.size(), nullptr, s.to, 1, 0, &s.receiving) ==
                0);
    for (Side& s : sides) {
        CHECK_FALSE(d.outcome(s.me, &s.receiving).error);
        CHECK_FALSE(d.outcome(s.me, &s.sending).error);
        CHECK_FALSE(d.outcome(s.me, &s.fenced).error);
        CHECK(s.in == out);
    }
}
