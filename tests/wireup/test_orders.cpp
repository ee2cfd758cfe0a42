// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whatever the order in which datagrams come, and whatever is lost, doubled or late on the way:
// every word is heard once, and nobody waits for ever.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "every_order.hpp"

using namespace odrc;

namespace {

using Wish = Scenario::Wish;

ondemand::Seal sealed() { return ondemand::Seal{std::as_bytes(std::span{"key"})}; }

// Nothing but the first connection was needed.
void connected_once(World& world) {
    world.speak_again();
    world.check();
    for (size_t i : {0u, 1u}) {
        CHECK(world.side(i).counters().connections_made == 1);
        CHECK(world.side(i).counters().connections == 1);
    }
}

// The same, on soft0 beside the device or, 0, on the device.
auto connected_once_on_soft(uint64_t soft) {
    return [soft](World& world) {
        connected_once(world);
        for (size_t i : {0u, 1u}) CHECK(world.side(i).counters().connections_soft == soft);
    };
}

} // namespace

TEST_CASE("one begins") {
    in_every_order(
        {.most_lanes = {8, 8}, .before = {}, .wishes = {{0, 1}}, .faults = 2, .waits = 1},
        connected_once);
}

TEST_CASE("both begin") {
    in_every_order(
        {.most_lanes = {8, 8}, .before = {}, .wishes = {{0, 1}, {1, 0}}, .faults = 2, .waits = 0},
        connected_once);
}

TEST_CASE("one queue pair for two peers") {
    in_every_order({.most_lanes = {1, 8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 2}, {0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 7},
                   [](World&) {});
}

TEST_CASE("two endpoints with one queue pair each, in each other's way") {
    in_every_order({.most_lanes = {1, 1, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 2}, {0, 1}, {1, 2}, {1, 0}},
                    .faults = 1,
                    .waits = 0,
                    .steps = 7},
                   [](World&) {});
}

TEST_CASE("three endpoints with one queue pair each, all wanting another") {
    in_every_order({.most_lanes = {1, 1, 1},
                    .before = {},
                    .wishes = {{0, 1}, {1, 2}, {2, 0}},
                    .faults = 0,
                    .waits = 1,
                    .steps = 7},
                   [](World&) {});
}

TEST_CASE("a lane that is too shallow gives way to a deeper one, while the peer speaks") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 1, Wish::deepen}, {0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 8},
                   [](World&) {});
}

TEST_CASE("a lane that is too shallow for both gives way to a deeper one") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 1, Wish::deepen}, {1, 0, Wish::deepen}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 8},
                   [](World& world) {
                       for (size_t i : {0u, 1u})
                           CHECK(world.side(i).counters().connections_made <= 3);
                   });
}

TEST_CASE("with one queue pair each, a lane gives way to a deeper one or for another's sake") {
    in_every_order({.most_lanes = {1, 8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 1, Wish::deepen}, {2, 0}, {1, 0}},
                    .faults = 0,
                    .waits = 1,
                    .steps = 8},
                   [](World&) {});
}

TEST_CASE("with a key, one begins, and asks with its ticket again") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1}},
                    .faults = 2,
                    .waits = 1,
                    .seal = sealed()},
                   connected_once);
}

TEST_CASE("with a key, both begin") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 0,
                    .seal = sealed()},
                   connected_once);
}

TEST_CASE("two that name each other, at any time, and speak by their addresses alone") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1, Wish::name}, {0, 1}, {1, 0, Wish::name}, {1, 0}},
                    .faults = 0,
                    .waits = 1,
                    .job = 2},
                   [](World& world) {
                       connected_once(world);
                       CHECK(world.side(0).counters().wireup_datagrams == 0);
                       CHECK(world.side(1).counters().wireup_datagrams == 0);
                   });
}

TEST_CASE("by their addresses, if both name each other in time; else by the wireup") {
    for (const auto& seal : {ondemand::Seal{}, sealed()})
        in_every_order({.most_lanes = {8, 8},
                        .before = {},
                        .wishes = {{0, 1, Wish::name}, {0, 1}, {1, 0, Wish::name}, {1, 0}},
                        .faults = 0,
                        .waits = 2,
                        .steps = 8,
                        .seal = seal,
                        .job = 2,
                        .wait = std::chrono::seconds{1}},
                       connected_once);
}

TEST_CASE("one knows the other's address, the other begins by the wireup") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1, Wish::name}, {0, 1}, {1, 0}, {1, 0, Wish::name}},
                    .faults = 0,
                    .waits = 1,
                    .steps = 7,
                    .job = 2,
                    .wait = std::chrono::seconds{1}},
                   connected_once);
}

TEST_CASE("lanes that nobody has used give way") {
    in_every_order(
        {.most_lanes = {3, 3, 3},
         .before = {{0, 1, Wish::name}, {1, 0, Wish::name}, {0, 2, Wish::name}, {2, 0, Wish::name}},
         .wishes = {{1, 2}, {0, 1}, {2, 0}},
         .faults = 1,
         .waits = 0,
         .steps = 7,
         .job = 3},
        [](World&) {});
}

TEST_CASE("one closes, with a connection that holds or is lost: the other knows what was taken") {
    for (const bool both : {false, true})
        in_every_order(
            {.most_lanes = {8, 8},
             .before = {{0, 1}},
             .wishes = both ? std::vector<Wish>{{0, 1, Wish::lose},
                                                {0, 1},
                                                {1, 0, Wish::lose},
                                                {1, 0, Wish::leave}}
                            : std::vector<Wish>{{0, 1, Wish::lose}, {0, 1}, {1, 0, Wish::leave}},
             .faults = 0,
             .waits = 1},
            [](World& world) {
                Side& from = world.side(0);
                const auto& heard = world.side(1).heard_from(from.address());
                CHECK(from.errors() + heard.size() == 2);
                if (from.errors() > 0) CHECK(from.taken() == heard.size());
            });
}

TEST_CASE("two of a job whose addresses have no room for each other, by lists, in time or not") {
    // Of eight queue pairs that are eight ranges, an address has four.
    const Scenario in_time{
        .most_lanes = {8, 8},
        .before = {{0, 1, Wish::name}, {1, 0, Wish::name}},
        .wishes = {{0, 1, Wish::read_list}, {0, 1}, {1, 0, Wish::read_list}, {1, 0}},
        .faults = 0,
        .waits = 1,
        .job = 8,
        .lists = true};
    in_every_order(
        in_time,
        [](World& world) {
            connected_once(world);
            CHECK(world.side(0).counters().wireup_datagrams == 0);
            CHECK(world.side(1).counters().wireup_datagrams == 0);
        },
        seats_in_a_crowd());
    Scenario late = in_time;
    late.waits = 2;
    late.steps = 8;
    late.wait = std::chrono::seconds{1};
    in_every_order(late, connected_once, seats_in_a_crowd());
}

TEST_CASE("one has the other's list, the other has none, and either begins") {
    for (const bool lists : {true, false})
        in_every_order(
            {.most_lanes = {8, 8},
             .before = {{0, 1, Wish::name}, {1, 0, Wish::name}},
             .wishes = {{0, 1, Wish::read_list}, {0, 1}, {1, 0}},
             .faults = 0,
             .waits = 1,
             .job = 8,
             .lists = lists,
             .wait = std::chrono::seconds{1}},
            [](World& world) {
                connected_once(world);
                const auto& datagrams = [&](size_t i) {
                    return world.side(i).counters().wireup_datagrams;
                };
                CHECK(datagrams(0) + datagrams(1) > 0);
            },
            seats_in_a_crowd());
}

TEST_CASE("on soft0, one begins") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1}},
                    .faults = 2,
                    .waits = 1,
                    .soft = {true, true}},
                   connected_once_on_soft(1));
}

TEST_CASE("on soft0, both begin") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 0,
                    .soft = {true, true}},
                   connected_once_on_soft(1));
}

TEST_CASE("one begins on soft0, where the other is not") {
    for (const auto& seal : {ondemand::Seal{}, sealed()})
        in_every_order({.most_lanes = {8, 8},
                        .before = {},
                        .wishes = {{0, 1}},
                        .faults = 2,
                        .waits = 1,
                        .steps = 8,
                        .seal = seal,
                        .soft = {true, false}},
                       connected_once_on_soft(0));
}

TEST_CASE("one begins on soft0, the other on the device") {
    for (const auto& seal : {ondemand::Seal{}, sealed()})
        in_every_order({.most_lanes = {8, 8},
                        .before = {},
                        .wishes = {{0, 1}, {1, 0}},
                        .faults = 1,
                        .waits = 1,
                        .steps = 8,
                        .seal = seal,
                        .soft = {true, false}},
                       connected_once_on_soft(0));
}

TEST_CASE("one queue pair for two peers, on soft0 and on the device") {
    in_every_order({.most_lanes = {1, 8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 2}, {0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 0,
                    .steps = 7,
                    .soft = {true, true, false}},
                   [](World& world) {
                       CHECK(world.side(1).counters().connections_soft ==
                             world.side(1).counters().connections_made);
                       CHECK(world.side(2).counters().connections_soft == 0);
                   });
}

TEST_CASE("two of one host that name each other, and meet on soft0") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1, Wish::name}, {0, 1}, {1, 0, Wish::name}, {1, 0}},
                    .faults = 0,
                    .waits = 1,
                    .job = 2,
                    .soft = {true, true}},
                   connected_once_on_soft(1));
}

TEST_CASE("two of one host that name each other, of whom one lays a lane") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {},
                    .wishes = {{0, 1, Wish::name}, {0, 1}, {1, 0, Wish::name}, {1, 0}},
                    .faults = 0,
                    .waits = 2,
                    .steps = 8,
                    .job = 2,
                    .wait = std::chrono::seconds{1},
                    .soft = {true, false}},
                   connected_once_on_soft(0));
}
