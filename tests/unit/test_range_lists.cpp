// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Lists of the queue pairs for which an address has no room.

#include "tests/fuzz/range_list.hpp"
#include "wireup_rig.hpp"

#include <doctest/doctest.h>
#include <numeric>
#include <random>

using namespace odrc;
using namespace odrc::ondemand;

namespace {

constexpr PlaceInJob kPlace{.rank = 3, .size = 20, .job = 0xabcd, .endpoint = 63};

RangeList sane() {
    return {.place = kPlace,
            .endpoint = 0x0123456789abcdef,
            .ranges = {{20, 5}, {0xfffffe, 2}, {1, 9}}};
}

} // namespace

TEST_CASE("a list is read as it was written") {
    for (const RangeList& list : {sane(), RangeList{.place = kPlace, .endpoint = 1, .ranges = {}},
                                  RangeList{.place = {}, .endpoint = 1, .ranges = {}}}) {
        const auto bytes = list.encode();
        CHECK(bytes.size() == 16 + 5 * list.ranges.size());
        const auto read = RangeList::decode(bytes);
        REQUIRE(read);
        CHECK(read->place == list.place);
        CHECK(read->endpoint == list.endpoint);
        CHECK(read->ranges == list.ranges);
    }
}

TEST_CASE("what is no list is not taken for one") {
    const auto refused = [](auto&& change) {
        RangeList list = sane();
        change(list);
        return !RangeList::decode(list.encode());
    };
    CHECK_FALSE(refused([](auto&) {}));
    CHECK(refused([](auto& l) { l.place.rank = 20; }));
    CHECK(refused([](auto& l) { l.place.size = 0; }));
    CHECK(refused([](auto& l) { l.place.size = 15; })); // less than the ranges are
    CHECK(refused([](auto& l) { l.place.endpoint = 64; }));
    CHECK(refused([](auto& l) { l.place = {}; }));
    CHECK(refused([](auto& l) { l.ranges[2] = {19, 2}; })); // one of them twice
    CHECK(refused([](auto& l) { l.ranges[2].count = 0; }));
    CHECK(refused([](auto& l) { l.ranges[1].count = 3; })); // beyond all numbers
    auto bytes = sane().encode();
    bytes[0] = std::byte{0xe2}; // of a later version
    CHECK_FALSE(RangeList::decode(bytes));
    bytes = sane().encode();
    for (; !bytes.empty(); bytes.pop_back())
        CHECK(RangeList::decode(bytes).has_value() == (bytes.size() % 5 == 1 && bytes.size() > 15));
    CHECK_FALSE(RangeList::decode({}));
}

TEST_CASE("a list belongs to the address whose ranges it goes on from") {
    const RangeList list = sane();
    NativeAddress address{.socket = rig::local(),
                          .place = kPlace,
                          .endpoint = list.endpoint,
                          .ranges = ShortRanges{std::span{list.ranges}.first(2)}};
    CHECK(list.goes_on(address));
    NativeAddress other = address;
    ++other.endpoint;
    CHECK_FALSE(list.goes_on(other));
    other = address;
    ++other.place.rank;
    CHECK_FALSE(list.goes_on(other));
    other = address;
    other.ranges = ShortRanges{std::span{list.ranges}.last(2)};
    CHECK_FALSE(list.goes_on(other));
    other.ranges = {};
    CHECK(list.goes_on(other));
}

TEST_CASE("whatever bytes are given for a list, what is read is sane") {
    std::minstd_rand random{42};
    const auto right = sane().encode();
    int taken = 0;
    for (int i = 0; i < 200'000; ++i) {
        // On the heap in its exact size, where a sanitizer sees a read past the end.
        std::vector<std::byte> bytes = right;
        for (auto flips = random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] ^= std::byte(1 << random() % 8);
        if (i % 4 == 0) bytes.resize(random() % (2 * right.size()));
        bytes.shrink_to_fit();
        taken += fuzz::read_list(bytes);
    }
    CHECK(taken > 1000);
}

TEST_CASE("queue pairs that an address has no room for wait for peers that get the list") {
    rig::Room room;
    const NativeAddress own{.socket = rig::local()};
    const PlaceInJob place{.rank = 0, .size = 8, .job = 1, .endpoint = 0};
    for (const bool lists : {false, true}) {
        // Every other one of what the device gives: eight ranges.
        std::vector<verbs::QueuePair> made, others;
        for (int i = 0; i < 8; ++i) {
            made.push_back(room.make_qp());
            others.push_back(room.make_qp());
        }
        std::vector<uint32_t> numbers;
        for (const auto& qp : made) numbers.push_back(qp.number());
        QueuesInWait waiting;
        CHECK(waiting.keep(std::move(made), place, own, lists) == (lists ? 8 : 4));
        CHECK(waiting.ranges().total() == 4);
        REQUIRE(waiting.list().size() == (lists ? 8 : 4));
        for (uint32_t rank = 0; rank < 8; ++rank) {
            const auto number = number_at(waiting.list(), rank);
            CHECK(waiting.has(rank) == (lists || rank < 4));
            if (rank < 4) CHECK(number == waiting.ranges().at(rank));
            if (number) CHECK(waiting.take(rank).number() == *number);
        }
        // Of peers, one that our address has and one that it has not.
        for (const uint32_t rank : {3u, 4u}) {
            NativeAddress peer = own;
            peer.place = place;
            peer.place.rank = rank;
            peer.ranges = ShortRanges{std::vector<Range>{{100, 1}}};
            const RangeList list{
                .place = peer.place, .endpoint = 0, .ranges = {{100, 1}, {200, 7}}};
            CHECK(waiting.meeting(peer, nullptr).has_value() == (rank == 3));
            CHECK(waiting.meeting(peer, &list).has_value() == (lists || rank == 3));
        }
    }
}
