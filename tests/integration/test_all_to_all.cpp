// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Endpoints that connect by their addresses alone (fi_odrc(7): FI_ODRC_CONNECT), and what becomes
// of those that cannot.

#include "job.hpp"

#include <random>

using namespace duo;

TEST_CASE("endpoints of a job connect by their addresses, without a word") {
    Company c{4};
    CHECK(c[0].endpoint.info().addr_format == FI_ODRC_ADDRESS);
    CHECK(c[0].endpoint.name().size() == 64);
    CHECK(statistics_of(c[0]).published_bytes == 64);
    c.introduce_all();
    CHECK(statistics_of(c[0]).connections_made == 0); // those that nobody has used do not count
    c.all_talk();
    if (!room_for(4)) return;
    CHECK(c.datagrams() == 0);
    for (auto& member : c.members) CHECK(statistics_of(*member).connections_made == 4);
}

TEST_CASE("peers are named one by one, in any order, by both sides or by one before the other") {
    std::minstd_rand random{7};
    Company c{5};
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t to = 0; to < 5; ++to)
        for (size_t who = 0; who < 5; ++who) pairs.emplace_back(to, who);
    std::ranges::shuffle(pairs, random);
    for (const auto& [to, who] : pairs) {
        c.introduce(to, who);
        if (c.numbers[who][to] == FI_ADDR_NOTAVAIL) continue;
        c.talk(to, who);
        c.talk(who, to);
    }
    if (room_for(5)) CHECK(c.datagrams() == 0);
}

TEST_CASE("a peer that does not know us yet is reached all the same") {
    Company c{2};
    c.introduce(0, 1);
    char in = 0;
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(c[1].ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(c[0].ep(), "x", 1, nullptr, c.numbers[0][1], &sending) == 0);
    bool named = false;
    SUBCASE("by the wireup, when it has not come to know us in time") {}
    SUBCASE("over the lane of the addresses, when it has") {
        const auto end = Clock::now() + std::chrono::milliseconds{50};
        while (Clock::now() < end) c.poll();
        c.introduce(1, 0);
        named = true;
    }
    poll_until(c, [&] { return c[0].take(&sending).has_value(); });
    poll_until(c, [&] { return c[1].take(&receiving).has_value(); });
    CHECK(in == 'x');
    if (room_for(2)) CHECK((c.datagrams() == 0) == named);
    c.introduce(1, 0);
    for (int i = 0; i < 50; ++i) { // whoever has none yet earns one
        c.talk(1, 0);
        c.talk(0, 1);
    }
    poll_until(c, [&] { return statistics_of(c[0]).connections == 1; });
    poll_until(c, [&] { return statistics_of(c[1]).connections == 1; });
}

TEST_CASE("a message goes out by the addresses although the program does not look") {
    Company c{2};
    c.introduce_all();
    char in = 0;
    int receiving = 0;
    REQUIRE(fi_recv(c[1].ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_inject(c[0].ep(), "x", 1, c.numbers[0][1]) == 0);
    poll_until(c[1], [&] { return c[1].take(&receiving).has_value(); });
    CHECK(in == 'x');
}

TEST_CASE("who has no queue pairs in its address is reached on demand by those who have") {
    Company c{3};
    Wishes native = kRmaWishes, plain = kRmaWishes; // of no job
    native.address_format = FI_ODRC_ADDRESS;
    plain.address_format = FI_SOCKADDR_IN;
    c.add(native);
    c.add(plain);
    CHECK(c[3].endpoint.name().size() == 64);
    CHECK(c[4].endpoint.name().size() == sizeof(sockaddr_in));
    c.introduce_all();
    for (size_t from = 0; from < 3; ++from)
        for (size_t to = 0; to < 3; ++to) c.talk(from, to);
    if (room_for(3)) CHECK(c.datagrams() == 0);
    c.all_talk();
    CHECK(c.datagrams() > 0);
}

TEST_CASE("endpoints of other jobs, sizes and places connect on demand") {
    Company c{2};
    c.add(place(1, 2, 2));
    c.add(place(1, 3));
    c.add(place(1, 2, 1, 1));
    c.introduce_all();
    for (size_t other : {2, 3, 4}) {
        const uint64_t before = c.datagrams();
        c.talk(0, other);
        CHECK(c.datagrams() > before);
    }
    const uint64_t before = c.datagrams();
    c.talk(0, 1);
    if (room_for(5)) CHECK(c.datagrams() == before);
}

TEST_CASE("two that say they have the same place are both reached") {
    Company c{2};
    c.add(place(1, 2));
    c.introduce_all();
    c.all_talk();
    c.all_talk();
}

// FI_ODRC_MAX_QP=2 makes it true that there is no room.
TEST_CASE("queue pairs that wait, and lanes never used, give way to peers that talk") {
    Company c{2};
    Wishes plain = kRmaWishes;
    plain.address_format = FI_SOCKADDR_IN;
    for (int i = 0; i < 3; ++i) c.add(plain);
    SUBCASE("the other has been named") { c.introduce_all(); }
    SUBCASE("the other is named when there is no room any more") {
        for (size_t to = 0; to < 5; ++to)
            for (size_t who = 0; who < 5; ++who)
                if (to > 1 || who > 1) c.introduce(to, who);
    }
    for (size_t other = 2; other < 5; ++other) {
        c.talk(0, other);
        c.talk(other, 1);
    }
    c.introduce(0, 1);
    c.introduce(1, 0);
    for (int round = 0; round < 3; ++round) {
        c.talk(0, 1);
        c.talk(1, 0);
        c.talk(0, 2);
        c.talk(3, 1);
    }
}

TEST_CASE("memory is written and read over a lane of the addresses, and nobody else need speak") {
    Company c{2};
    c.introduce_all();
    Shared there{c[1], 100};
    auto out = pattern(100, 'w');
    int writing = 0;
    REQUIRE(fi_write(c[0].ep(), out.data(), out.size(), nullptr, c.numbers[0][1], there.at(0),
                     there.key(), &writing) == 0);
    poll_until(c[0], [&] { return c[0].take(&writing).has_value(); });
    CHECK(there.bytes == out);
    if (room_for(2)) CHECK(c.datagrams() == 0);
}

TEST_CASE("an endpoint that comes later connects to those that its address vector has") {
    Company c{2};
    const auto second = [&](size_t of) {
        fid_ep* ep = nullptr;
        const Endpoint& first = c[of].endpoint;
        auto* info = const_cast<fi_info*>(&first.info());
        REQUIRE(fi_endpoint(first.domain(), info, &ep, nullptr) == 0);
        place(static_cast<uint32_t>(of), 2, 1, 1).prepare(ep);
        REQUIRE(fi_ep_bind(ep, &first.av()->fid, 0) == 0);
        REQUIRE(fi_ep_bind(ep, &first.cq()->fid, FI_TRANSMIT | FI_RECV) == 0);
        REQUIRE(fi_enable(ep) == 0);
        return Owned<fid_ep>{ep};
    };
    const auto insert = [&](size_t at, fid_ep* ep) {
        char bytes[64];
        size_t length = sizeof bytes;
        REQUIRE(fi_getname(&ep->fid, bytes, &length) == 0);
        return c[at].endpoint.insert({bytes, length});
    };
    const auto a = second(0);
    const fi_addr_t to_a = insert(1, a.get());
    const auto b = second(1);
    insert(0, b.get());
    char in = 0;
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(a.get(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(b.get(), "x", 1, nullptr, to_a, &sending) == 0);
    poll_until(c, [&] { return c[0].take(&receiving).has_value(); });
    CHECK(in == 'x');
    fi_odrc_statistics s{};
    void* ops = nullptr;
    REQUIRE(fi_open_ops(&b->fid, FI_ODRC_STATISTICS_OPS, 0, &ops, nullptr) == 0);
    REQUIRE(static_cast<fi_odrc_statistics_ops*>(ops)->read(b.get(), &s, sizeof s) == sizeof s);
    if (room_for(2)) CHECK(s.wireup_datagrams == 0);
}
