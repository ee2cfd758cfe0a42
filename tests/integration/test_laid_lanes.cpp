// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Lanes that were laid by the addresses alone: what peers may do over them, whom the key keeps out,
// and what becomes of them when one side dies or comes back.

#include "atomics.hpp"
#include "far.hpp"
#include "job.hpp"
#include "tests/forks.hpp"

using namespace duo;

namespace {

Wishes with_key(Wishes wishes, const std::string& key) {
    wishes.key = key;
    return wishes;
}

// A member of a job in a process of its own, which answers one message with another one. It takes
// the address that it finds on the board, if there is one.
void answer_one(Board& board) {
    const std::string address{board.name, sizeof board.name};
    Wishes wishes = place(1, 2);
    if (board.name[0])
        wishes.prepare = [&, give_place = wishes.prepare](fid_ep* ep) {
            give_place(ep);
            check(fi_setname(&ep->fid, const_cast<char*>(address.data()), address.size()),
                  "fi_setname");
        };
    Watched side{wishes};
    const std::string name = side.endpoint.name();
    std::memcpy(board.name, name.data(), name.size());
    board.step = 1;
    board.await(2);
    const fi_addr_t peer = side.endpoint.insert({board.peer, sizeof board.peer});
    char in = 0;
    int receiving = 0, sending = 0;
    check(fi_recv(side.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving), "fi_recv");
    board.step = 3;
    outcome(side, &receiving);
    check(fi_send(side.ep(), "y", 1, nullptr, peer, &sending), "fi_send");
    outcome(side, &sending);
    for (;;) pause(); // until it is killed
}

fi_addr_t meet_member(Watched& near, Child& child) {
    child.await(1);
    const std::string name = near.endpoint.name();
    std::memcpy(child.board->peer, name.data(), name.size());
    child.board->step = 2;
    const fi_addr_t number = near.endpoint.insert({child.board->name, name.size()});
    child.await(3);
    return number;
}

// What was sent to an earlier life may be lost with it.
void speak(Watched& near, fi_addr_t number) {
    int sending = 0, receiving = 0;
    char in = 0;
    REQUIRE(fi_recv(near.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    do REQUIRE(fi_send(near.ep(), "x", 1, nullptr, number, &sending) == 0);
    while (outcome(near, &sending).error);
    CHECK_FALSE(outcome(near, &receiving).error);
    CHECK(in == 'y');
}

} // namespace

TEST_CASE("endpoints of a job with one key connect by their addresses") {
    Duo d{with_key(place(0, 2), "one"), with_key(place(1, 2), "one")};
    char in = 0;
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, d.to_a, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(in == 'x');
    if (room_for(2)) CHECK(statistics_of(d.b).wireup_datagrams == 0);
}

TEST_CASE("endpoints of a job with different keys never connect" * doctest::test_suite("silence")) {
    Duo d{with_key(place(0, 2), "one"), with_key(place(1, 2), "two")};
    char in = 0;
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, d.to_a, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
    const Outcome sent = d.outcome(d.a, &sending);
    const auto there = statistics_of(d.b);
    REQUIRE(sent.error);
    CHECK(sent.error->err == FI_ETIMEDOUT);
    CHECK(there.messages_received == 0);
    CHECK(there.wireup_refused > 0);
    CHECK(there.connections_made == 0);
}

TEST_CASE("words are changed over a lane of the addresses while the target does not call in") {
    Duo d{place(0, 2, kAtomicWishes), place(1, 2, kAtomicWishes)};
    Numbers<uint64_t> there{d.b, {40}};
    const uint64_t two = 2;
    uint64_t seen = 0;
    int context = 0;
    REQUIRE(fi_fetch_atomic(d.a.ep(), &two, 1, nullptr, &seen, nullptr, d.to_b, there.at(0),
                            there.key(), FI_UINT64, FI_SUM, &context) == 0);
    CHECK_FALSE(outcome(d.a, &context).error);
    CHECK(seen == 40);
    CHECK(there.all()[0] == 42);
    if (room_for(2)) CHECK(statistics_of(d.b).wireup_datagrams == 0);
}

TEST_CASE("a peer is killed before its lane was used, and another takes its place" * forks()) {
    Watched near{place(0, 2)};
    for (const bool speaks : {false, true, true}) {
        Child child{answer_one};
        const fi_addr_t number = meet_member(near, child);
        if (speaks) speak(near, number);
        child.kill_now();
        // A device may take a while to see that nobody is there.
        int sending = 0;
        do REQUIRE(fi_send(near.ep(), "x", 1, nullptr, number, &sending) == 0);
        while (!outcome(near, &sending).error);
    }
}

TEST_CASE("a peer comes back at its address, and is another one" * forks()) {
    for (const bool spoken : {false, true}) {
        Watched near{place(0, 2)};
        std::string name;
        for (int life = 0; life < 3; ++life) {
            Child child{[&](Board& board) {
                std::ranges::copy(name, board.name);
                answer_one(board);
            }};
            const fi_addr_t number = meet_member(near, child);
            name.assign(child.board->name, sizeof child.board->name);
            if (spoken || life == 2) speak(near, number);
        }
    }
}
