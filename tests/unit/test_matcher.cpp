// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/matcher.hpp"

#include <algorithm>
#include <deque>
#include <doctest/doctest.h>
#include <random>

using namespace odrc::transfer;

namespace {

Peer* peer(int i) { // never looked into, only told apart
    static std::byte places[16];
    return reinterpret_cast<Peer*>(&places[i]);
}

Message message(Peer* from, uint64_t tag) {
    Message m{};
    m.peer = from;
    m.tag = tag;
    return m;
}

Receive* take_receive(Matcher& matcher, const Message& m) {
    Receive* r = matcher.find_receive(m);
    if (r) matcher.take(*r);
    return r;
}

// What the matcher is to do, in the plainest way.
struct Reference {
    std::deque<Receive*> receives;
    std::deque<Arrived*> arrivals;

    static bool match(const Receive& r, const Message& m) {
        return ((r.tag ^ m.tag) & ~r.ignore) == 0 && (!r.source || r.source == m.peer);
    }
    Receive* take_receive(const Message& m) {
        const auto i = std::ranges::find_if(receives, [&](Receive* r) { return match(*r, m); });
        if (i == receives.end()) return nullptr;
        Receive* r = *i;
        receives.erase(i);
        return r;
    }
    Arrived* take_arrived(const Receive& r) {
        const auto i =
            std::ranges::find_if(arrivals, [&](Arrived* a) { return match(r, a->message); });
        if (i == arrivals.end()) return nullptr;
        Arrived* a = *i;
        arrivals.erase(i);
        return a;
    }
};

} // namespace

TEST_CASE("the first posted receive that matches gets the message, whatever its pattern") {
    Matcher matcher;
    Receive any, exact, masked;
    any.tag = 5;
    exact.tag = 5;
    exact.source = peer(1);
    masked.tag = 0;
    masked.ignore = 0xf;
    matcher.post(masked);
    matcher.post(exact);
    matcher.post(any);
    CHECK(take_receive(matcher, message(peer(1), 0x15)) == nullptr);
    CHECK(take_receive(matcher, message(peer(1), 5)) == &masked);
    CHECK(take_receive(matcher, message(peer(2), 5)) == &any);
    CHECK(take_receive(matcher, message(peer(1), 5)) == &exact);
    CHECK(matcher.posted() == 0);
}

TEST_CASE("the matcher agrees with a plain list under random use, with many masks") {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        Matcher matcher;
        Reference reference;
        std::deque<Receive> receives;
        std::deque<Arrived> arrivals;
        std::mt19937_64 random{seed};
        const uint64_t masks = seed < 3 ? 3 : 40; // more than the matcher keeps when unused
        for (int step = 0; step < 20'000; ++step) {
            if (random() % 2) {
                Receive& r = receives.emplace_back();
                r.tag = random() % 8;
                r.ignore = (random() % masks) * 0x9e3779b97f4a7c15 >> 60;
                r.source = random() % 2 ? peer(int(random() % 4)) : nullptr;
                Arrived* a = matcher.find_arrived(r.source, r.tag, r.ignore);
                CHECK(a == reference.take_arrived(r));
                if (a) {
                    matcher.take(*a);
                } else {
                    matcher.post(r);
                    reference.receives.push_back(&r);
                }
            } else {
                Arrived& a = arrivals.emplace_back();
                a.message = message(peer(int(random() % 4)), random() % 8);
                Receive* r = take_receive(matcher, a.message);
                CHECK(r == reference.take_receive(a.message));
                if (!r) {
                    REQUIRE(matcher.keep(a));
                    reference.arrivals.push_back(&a);
                }
            }
            CHECK(matcher.posted() == reference.receives.size());
        }
        while (Arrived* a = matcher.any_arrived()) matcher.take(*a);
        while (matcher.take_any()) {
        }
    }
}

TEST_CASE("a receive is hashed when a message matches none before it, and else never") {
    Matcher matcher;
    std::deque<Receive> receives(6);
    for (size_t i = 0; i < receives.size(); ++i) {
        receives[i].tag = i;
        matcher.post(receives[i]);
    }
    const auto hashed = [&] { return std::ranges::count_if(receives, &Receive::pattern); };
    for (const uint64_t tag : {0, 1})
        CHECK(take_receive(matcher, message(peer(0), tag)) != nullptr);
    CHECK(hashed() == 0);
    CHECK(take_receive(matcher, message(peer(0), 4)) == &receives[4]);
    CHECK(hashed() == 4);
    Receive late;
    late.tag = 2;
    matcher.post(late);
    CHECK(take_receive(matcher, message(peer(0), 2)) == &receives[2]);
    CHECK(late.pattern == nullptr);
    CHECK(take_receive(matcher, message(peer(0), 2)) == &late);
    CHECK(take_receive(matcher, message(peer(0), 5)) == &receives[5]);
    CHECK(take_receive(matcher, message(peer(0), 3)) == &receives[3]);
    CHECK(matcher.posted() == 0);
}

TEST_CASE("a receive is found by its context") {
    Matcher matcher;
    Receive a, b;
    int x, y;
    a.context = &x;
    b.context = &y;
    matcher.post(a);
    matcher.post(b);
    CHECK(matcher.take_receive(&y) == &b);
    CHECK(matcher.take_receive(&y) == nullptr);
    CHECK(take_receive(matcher, message(peer(0), 0)) == &a);
}
