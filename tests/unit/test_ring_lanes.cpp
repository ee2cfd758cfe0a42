// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who gets one of the few rings.

#include "wireup_rig.hpp"

#include <deque>
#include <doctest/doctest.h>

using namespace rig;

namespace {

struct Lanes : Room {
    explicit Lanes(Eager eager = Eager::automatic, Sleeper sleeper = Sleeper::nobody)
        : rings{counters,
                eager,
                {.count = RingLanes::kMost, .bytes = 32 << 10, .longest = 64 << 10},
                sleeper} {
        for (size_t i = 0; i < RingLanes::kMost + 2; ++i) {
            peers.emplace_back(local(static_cast<uint32_t>(i + 1)));
            lanes.emplace_back(make_qp(), stations->device(), posting, copies, peers.back(), 1, 0);
        }
    }

    // So many short frames over that lane. True if it may have a ring at the end of them.
    bool come(size_t lane, int count) {
        bool earned = false;
        for (int i = 0; i < count; ++i) earned = rings.count(lanes[lane].short_frames());
        return earned;
    }
    void give_all_away() {
        for (size_t i = 0; i < RingLanes::kMost; ++i) rings.add(lanes[i]);
        REQUIRE(rings.full());
    }

    verbs::PostList posting{counters.posts};
    srq::BufferPool copies{adapter, counters, 256, 16};
    RingLanes rings;
    std::deque<Peer> peers;
    std::deque<Lane> lanes;
};

constexpr size_t kNinth = RingLanes::kMost; // the first one without

} // namespace

TEST_CASE("a ring is earned by many short frames, and there are few") {
    Lanes l;
    CHECK_FALSE(l.come(0, 63));
    CHECK(l.come(0, 1));
    l.rings.add(l.lanes[0]);
    CHECK_FALSE(l.rings.empty());
    CHECK(l.counters.ring_peers == 1);
    l.rings.remove(l.lanes[0]);
    CHECK(l.rings.empty());
    l.give_all_away();
    CHECK(l.counters.ring_peers == RingLanes::kMost);
}

TEST_CASE("one ring of all is longer, and another one when that is gone") {
    Lanes l;
    for (size_t i = 0; i < 3; ++i) {
        const size_t bytes = l.rings.bytes_of_next();
        CHECK(bytes == (i == 0 ? 64 << 10 : 32 << 10));
        l.lanes[i].set_ring(std::make_unique<srq::Ring>(l.adapter, l.counters, bytes));
        l.rings.add(l.lanes[i]);
    }
    l.rings.remove(l.lanes[0]);
    l.lanes[0].set_ring(nullptr);
    CHECK(l.rings.bytes_of_next() == 64 << 10);
}

TEST_CASE("with rings for the first who come, one frame is enough, and they are kept") {
    Lanes l{Eager::ring_srq};
    CHECK(l.come(0, 1));
    l.give_all_away();
    l.come(kNinth, 100'000);
    CHECK_FALSE(l.rings.gives_way_to(l.lanes[kNinth].short_frames()));
}

TEST_CASE("there are none without rings, nor where the program sleeps") {
    for (const bool may_sleep : {false, true}) {
        Lanes l{may_sleep ? Eager::automatic : Eager::srq,
                may_sleep ? Sleeper::program : Sleeper::nobody};
        CHECK_FALSE(l.come(0, 100'000));
        CHECK(l.rings.full());
        CHECK_FALSE(l.rings.gives_way_to(l.lanes[0].short_frames()));
    }
}

TEST_CASE("where the watchdog sleeps, there are some while it does not") {
    CHECK(Lanes{}.rings.gives());
    Lanes l{Eager::automatic, Sleeper::watchdog};
    CHECK_FALSE(l.rings.gives());
    l.rings.set_gives(true);
    CHECK(l.rings.gives());
    CHECK(l.come(0, 64));
}

TEST_CASE("who sends twice as much gets the ring of who sends least") {
    Lanes l;
    l.give_all_away();
    for (int round = 0; round < 100; ++round) {
        for (size_t i = 0; i < RingLanes::kMost; ++i) l.come(i, i == 3 ? 1 : 8);
        l.come(kNinth, 4);
    }
    CHECK(l.rings.gives_way_to(l.lanes[kNinth].short_frames()) == &l.lanes[3]);
    l.lanes[5].set_ring_recalled(); // there will be one
    CHECK_FALSE(l.rings.gives_way_to(l.lanes[kNinth].short_frames()));
}

TEST_CASE("among peers that send alike no ring changes hands") {
    Lanes l;
    l.give_all_away();
    for (int round = 0; round < 1000; ++round) {
        for (size_t i = 0; i < l.lanes.size(); ++i) {
            ShortFrames& frames = l.lanes[i].short_frames();
            if (!l.come(i, 1 + static_cast<int>((i + static_cast<size_t>(round)) % 3))) continue;
            if (i < RingLanes::kMost) continue;
            CHECK_FALSE(l.rings.gives_way_to(frames));
            l.rings.begin_anew(frames);
        }
    }
}

TEST_CASE("old merits count less and less") {
    Lanes l;
    l.give_all_away();
    for (size_t i = 0; i < RingLanes::kMost; ++i) l.come(i, 10'000);
    int tries = 0;
    Lane* other = nullptr;
    while (!other && ++tries < 1000) {
        for (size_t i = 1; i < RingLanes::kMost; ++i) l.come(i, 64);
        l.come(kNinth, 64);
        other = l.rings.gives_way_to(l.lanes[kNinth].short_frames());
        l.rings.begin_anew(l.lanes[kNinth].short_frames());
    }
    CHECK(other == &l.lanes[0]);
    CHECK(tries < 200); // of 512 frames each: a few times what it had before
}
