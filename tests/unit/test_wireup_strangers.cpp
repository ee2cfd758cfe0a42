// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who is believed, and what is kept of those who are not.

#include "base/error.hpp"
#include "wireup_rig.hpp"

#include <doctest/doctest.h>

using namespace rig;

namespace {

// What the far side hears, once the near one has looked.
std::optional<WireupMessage> answer(Near& near, Far& far) {
    near.serve();
    return far.receive();
}

// Connects the far side to the near one. Gives the request that was believed.
WireupDatagram connect(Near& near, Far& far, const verbs::QueuePair& qp, uint32_t attempt,
                       WireupMessage* accept = nullptr) {
    const Address& to = near.wireup.address();
    WireupDatagram sent = far.send(to, request(qp, attempt));
    auto heard = answer(near, far);
    REQUIRE(heard);
    if (heard->type == WireupType::ticket) {
        CHECK(heard->to == far.endpoint);
        CHECK(heard->answered_attempt == attempt);
        sent = far.send(to, request(qp, attempt, heard->ticket));
        heard = answer(near, far);
        REQUIRE(heard);
    }
    REQUIRE(heard->type == WireupType::accept);
    CHECK(heard->to == far.endpoint);
    far.send(to, reply(WireupType::confirm, *heard));
    near.serve();
    REQUIRE(near.link_to(far.address()) == Link::ready);
    if (accept) *accept = *heard;
    return sent;
}

} // namespace

TEST_CASE("with a key, nothing is kept of a request before it comes with its ticket") {
    Near near{seal_of("k")};
    Far far{seal_of("k")};
    const auto qp = near.make_qp();
    far.send(near.wireup.address(), request(qp, 1));
    const auto ticket = answer(near, far);
    REQUIRE(ticket);
    CHECK(ticket->type == WireupType::ticket);
    CHECK(near.known() == 0);
    CHECK(near.counters.wireup_refused == 0);

    far.send(near.wireup.address(), request(qp, 1, ticket->ticket + 2));
    CHECK(answer(near, far)->type == WireupType::ticket);
    CHECK(near.known() == 0);
    CHECK(near.counters.wireup_refused == 1);

    connect(near, far, qp, 1);
    CHECK(near.known() == 1);
    CHECK_FALSE(far.receive());
}

TEST_CASE("without a key, the first word is enough") {
    Near near{seal_of("")};
    Far far{seal_of("")};
    const auto qp = near.make_qp();
    far.send(near.wireup.address(), request(qp, 1));
    CHECK(answer(near, far)->type == WireupType::accept);
}

TEST_CASE("who has another key, or none, or one where we have none, is not heard") {
    const std::pair<const char*, const char*> keys[] = {{"k", "K"}, {"k", ""}, {"", "k"}};
    for (const auto& [ours, theirs] : keys) {
        Near near{seal_of(ours)};
        Far far{seal_of(theirs)};
        const auto qp = near.make_qp();
        for (int type = 1; type <= 10; ++type) {
            WireupMessage m = request(qp, 1, 1);
            m.type = static_cast<WireupType>(type);
            far.send(near.wireup.address(), m);
        }
        CHECK_FALSE(answer(near, far));
        CHECK(near.counters.wireup_refused == 10);
        CHECK(near.counters.wireup_datagrams == 0);
        CHECK(near.known() == 0);
    }
}

TEST_CASE("what is replayed makes no connection and ends none") {
    std::optional<Near> near{std::in_place, seal_of("k")};
    const Address there = near->wireup.address();
    std::optional<Far> far{std::in_place, seal_of("k"), 77};
    Room room;
    const auto qp = room.make_qp();
    WireupMessage accept;
    const WireupDatagram old = connect(*near, *far, qp, 1, &accept);

    SUBCASE("to the same endpoint, while the connection stands") {
        far->send_bytes(there, old);
        CHECK(answer(*near, *far)->type == WireupType::accept); // it may have been lost
        CHECK(near->link_to(far->address()) == Link::ready);
        CHECK(near->counters.connections_made == 1);
    }
    SUBCASE("when it has ended") {
        const WireupDatagram goodbye = far->send(there, reply(WireupType::goodbye, accept));
        near->serve();
        CHECK(near->link_to(far->address()) == Link::none);
        far->send_bytes(there, old);
        CHECK_FALSE(answer(*near, *far));
        CHECK(near->link_to(far->address()) == Link::none);

        // In the next connection, the end of the one before.
        connect(*near, *far, qp, 2);
        far->send_bytes(there, goodbye);
        far->send_bytes(there, old);
        CHECK_FALSE(answer(*near, *far));
        CHECK(near->link_to(far->address()) == Link::ready);
        CHECK(near->counters.connections_made == 2);
    }
    SUBCASE("from another address") {
        Far other{seal_of("k")};
        other.send_bytes(there, old);
        CHECK_FALSE(answer(*near, *far));
        CHECK(near->known() == 1);
        CHECK(near->counters.wireup_refused == 1);
    }
    SUBCASE("to another endpoint with that key") {
        Near other{seal_of("k")};
        far->send_bytes(other.wireup.address(), old);
        CHECK_FALSE(answer(other, *far));
        CHECK(other.counters.wireup_refused == 1);
        CHECK(other.known() == 0);
    }
    SUBCASE("to a later endpoint of the same address") {
        near.reset();
        near.emplace(seal_of("k"), there);
        far->send_bytes(there, old);
        CHECK(answer(*near, *far)->type == WireupType::ticket);
        far->send(there, reply(WireupType::confirm, accept));
        CHECK_FALSE(answer(*near, *far));
        CHECK(near->known() == 0);
        CHECK(near->counters.wireup_refused == 2);
    }
    SUBCASE("of an earlier life of the peer, to whom knows the present one") {
        const Address here = far->address();
        far.reset();
        far.emplace(seal_of("k"), 78, here);
        connect(*near, *far, qp, 1);
        far->send_bytes(there, old);
        CHECK(answer(*near, *far)->to == 77); // a ticket for one that is gone
        CHECK(near->link_to(here) == Link::ready);
        CHECK(near->counters.connections_made == 2);
    }
    SUBCASE("our own words, thrown back at us") {
        WireupMessage own = request(qp, 5);
        own.type = WireupType::goodbye;
        own.to = own.endpoint = accept.endpoint;
        WireupDatagram thrown = encode(own);
        seal_of("k").put(thrown, there);
        far->send_bytes(there, thrown);
        near->serve();
        CHECK(near->counters.wireup_refused == 1);
        CHECK(near->link_to(far->address()) == Link::ready);
    }
}

TEST_CASE("a seal holds for whatever address the endpoint is bound to, and reached at") {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    const Address bound_to_any = *Address::from(&any, sizeof any);
    const Address six = *Address::from(&v6, sizeof v6);
    const Address bound[] = {local(), local(3), bound_to_any, six};
    const Address reached_at[] = {local(), local(3), local(4), six};
    for (size_t i = 0; i < std::size(bound); ++i) {
        try {
            Near near{seal_of("k"), bound[i]};
            Address to = reached_at[i];
            to.set_port(near.wireup.address().port());
            Far far{seal_of("k"), 77, reached_at[i]};
            const auto qp = near.make_qp();
            far.send(to, request(qp, 1));
            const auto heard = answer(near, far);
            REQUIRE(heard);
            far.send(to, request(qp, 1, heard->ticket));
            CHECK(answer(near, far)->type == WireupType::accept);
            CHECK(near.counters.wireup_refused == 0);
        } catch (const Error&) {
            CHECK(bound[i] == six); // which not every host has
        }
    }
}

TEST_CASE("two endpoints with one key connect, whoever begins, and both at once") {
    for (const bool both : {false, true}) {
        for (const char* key : {"", "k"}) {
            Near a{seal_of(key)}, b{seal_of(key)};
            Peer* to_b = a.peers.meet(b.wireup.address());
            Peer* to_a = b.peers.meet(a.wireup.address());
            a.wireup.connect(*to_b);
            if (both) b.wireup.connect(*to_a);
            for (int i = 0; i < 10; ++i) {
                a.serve();
                b.serve();
            }
            CHECK(to_b->ready());
            CHECK(to_a->ready());
            CHECK(a.counters.wireup_refused + b.counters.wireup_refused == 0);
            // The ticket is good for the next time, too.
            CHECK((to_b->ticket != 0 || to_a->ticket != 0) == (key[0] != 0));
        }
    }
}

TEST_CASE("a flood of first words, from ever new addresses, leaves little behind") {
    constexpr uint32_t kFlood = 20'000;
    for (const char* key : {"", "k"}) {
        Near near{seal_of("")};
        const Seal seal = seal_of(key);
        const auto qp = near.make_qp();
        for (uint32_t i = 0; i < kFlood; ++i) {
            Far stranger{seal, 1000 + i, local(256 + i)};
            stranger.send(near.wireup.address(), request(qp, 1));
            if (i % 32 == 0) near.serve();
        }
        near.serve();
        CHECK(near.counters.connections_made == 0);
        CHECK(near.counters.connections_wiring <= 64); // more are a crowd
        CHECK(near.known() <= 1024);
        if (!*key) continue;
        CHECK(near.known() == 0);
        CHECK(near.counters.wireup_refused == kFlood);
    }
}

TEST_CASE("strangers who come and go are forgotten, those who are connected are not") {
    constexpr uint32_t kVisits = 3000;
    for (const char* key : {"", "k"}) {
        Near near{seal_of(key)};
        const auto qp = near.make_qp();
        Far friendly{seal_of(key)};
        connect(near, friendly, qp, 1);
        const Address& to = near.wireup.address();
        for (uint32_t i = 0; i < kVisits; ++i) {
            Far stranger{seal_of(key), 1000 + i, local(256 + i)};
            stranger.send(to, request(qp, 1));
            auto heard = answer(near, stranger);
            if (heard->type == WireupType::ticket) {
                stranger.send(to, request(qp, 1, heard->ticket));
                heard = answer(near, stranger);
            }
            REQUIRE(heard->type == WireupType::accept);
            stranger.send(to, reply(WireupType::goodbye, *heard));
            near.serve();
        }
        CHECK(near.known() <= 1025);
        CHECK(near.link_to(friendly.address()) == Link::ready);
    }
}

TEST_CASE("so many datagrams are taken in at a time, and more of those that are refused") {
    Near near{seal_of("")};
    Far far{seal_of("")}, other{seal_of(""), 1000, local(2)};
    const std::byte nonsense[10]{};
    for (int i = 0; i < 300; ++i) far.send_bytes(near.wireup.address(), nonsense);
    CHECK_FALSE(near.wireup.serve());
    CHECK(near.counters.wireup_refused == 256);
    CHECK(near.wireup.serve());
    CHECK(near.counters.wireup_refused == 300);
    const auto qp = near.make_qp();
    for (int i = 0; i < 100; ++i) other.send(near.wireup.address(), request(qp, 1));
    CHECK_FALSE(near.wireup.serve());
    CHECK(near.wireup.serve());
    CHECK(near.counters.wireup_refused == 300);
}
