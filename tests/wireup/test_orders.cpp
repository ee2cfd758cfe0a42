// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whatever the order in which datagrams come, and whatever is lost, doubled or late on the way:
// every word is heard once, and nobody waits for ever.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "softrc/device.hpp"
#include "world.hpp"

#include <doctest/doctest.h>

using namespace odrc;

namespace {

using Wish = Scenario::Wish;

// Made once: the device, and a place for each endpoint.
std::vector<std::unique_ptr<Seat>>& seats() {
    static Watchdog watchdog;
    static const auto device = soft::make_soft_device();
    static verbs::Adapter adapter{*device, Gate::Kind::many_threads, watchdog};
    static std::vector<std::unique_ptr<Seat>> all;
    while (all.size() < 3) all.push_back(std::make_unique<Seat>(adapter));
    return all;
}

template <class Check>
void in_every_order(const Scenario& scenario, Check&& check) {
    Orders orders{!scenario.job};
    do {
        World world{seats(), scenario, orders};
        world.run();
        INFO("order " << orders.count() << ": " << orders.text());
        world.check();
        check(world);
    } while (orders.next());
    MESSAGE(orders.count() << " orders");
}

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
                    .job = true},
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
                        .job = true,
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
                    .job = true,
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
         .job = true},
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
                                                {1, 0, Wish::close}}
                            : std::vector<Wish>{{0, 1, Wish::lose}, {0, 1}, {1, 0, Wish::close}},
             .faults = 0,
             .waits = 1},
            [](World& world) {
                Side& from = world.side(0);
                const auto& heard = world.side(1).heard_from(from.address());
                CHECK(from.errors() + heard.size() == 2);
                if (from.errors() > 0) CHECK(from.taken() == heard.size());
            });
}
