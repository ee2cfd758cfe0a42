// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The same, where peers begin by datagrams and earn connections.

#include "every_order.hpp"

namespace {

using Wish = Scenario::Wish;

// Words are heard over what there is, and over no more connections than that.
auto promoted(uint64_t connections) {
    return [connections](World& world) {
        world.speak_again();
        world.check();
        for (size_t i : {0u, 1u}) CHECK(world.side(i).counters().connections == connections);
    };
}

} // namespace

TEST_CASE("a first word is heard before the one who hears it has said anything") {
    network::under_way().clear();
    network::throw_next(uint64_t{1} << 32);
    Side one{*seats()[0], network::loopback(), {}, 8, {}, false, false, true};
    network::throw_next(uint64_t{2} << 32);
    Side other{*seats()[1], network::loopback(), {}, 8, {}, false, false, true};
    one.name(other);
    one.say(other.address(), 1);
    one.say(other.address(), 2);
    REQUIRE(network::under_way().size() == 1);
    other.step(); // what has come is kept until it is asked for
    CHECK(other.heard_from(one.address()).empty());
    network::deliver(0, false);
    other.step();
    other.step();
    CHECK(other.heard_from(one.address()) == std::vector<uint32_t>{1});
    CHECK(one.counters().peers_called == 1);
    // The answer lets more come.
    while (!network::under_way().empty()) {
        network::deliver(0, false);
        one.step();
        other.step();
    }
    other.step();
    CHECK(other.heard_from(one.address()) == std::vector<uint32_t>{1, 2});
}

TEST_CASE("who does not use the connection that it has earned goes back to datagrams") {
    Orders orders{false};
    const Scenario scenario{.most_lanes = {8, 8},
                            .before = {{0, 1}},
                            .wishes = {{0, 1, Wish::promote}, {0, 1}, {1, 0}},
                            .faults = 0,
                            .waits = 0,
                            .datagrams = {true, true}};
    World world{seats(), scenario, orders};
    world.run();
    world.speak_again();
    REQUIRE(world.side(0).counters().connections == 1);
    world.pass(std::chrono::seconds{11});
    CHECK(world.side(0).counters().connections == 1); // it had been used until then
    world.pass(std::chrono::seconds{11});
    for (size_t i : {0u, 1u}) CHECK(world.side(i).counters().connections == 0);
    CHECK(world.side(0).counters().demotions == 1);
    world.speak_again();
    world.check();
    for (size_t i : {0u, 1u}) CHECK(world.side(i).counters().connections == 0);
}

TEST_CASE("first words, of one, or of both, to whom they know by address") {
    for (const auto& wishes : {std::vector<Wish>{{0, 1}, {0, 1}}, {{0, 1}, {1, 0}}})
        in_every_order({.most_lanes = {8, 8},
                        .before = {{0, 1, Wish::name}, {1, 0, Wish::name}},
                        .wishes = wishes,
                        .faults = 1,
                        .waits = 1,
                        .steps = 9,
                        .datagrams = {true, true}},
                       promoted(0));
}

TEST_CASE("first words where one knows the other by address, and is not known") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1, Wish::name}},
                    .wishes = {{0, 1}, {1, 0}, {0, 1}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 9,
                    .datagrams = {true, true}},
                   promoted(0));
}

TEST_CASE("first words, and at once so many that a connection is earned") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1, Wish::name}, {1, 0, Wish::name}},
                    .wishes = {{0, 1}, {0, 1, Wish::promote}, {1, 0}, {0, 1}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 9,
                    .datagrams = {true, true}},
                   [](World&) {});
}

TEST_CASE("first words, and one side goes") {
    for (const size_t goes : {0u, 1u})
        in_every_order({.most_lanes = {8, 8},
                        .before = {{0, 1, Wish::name}, {1, 0, Wish::name}},
                        .wishes = {{0, 1}, {goes, 0, Wish::leave}, {1, 0}},
                        .faults = 0,
                        .waits = 1,
                        .steps = 8,
                        .datagrams = {true, true}},
                       [](World&) {});
}

TEST_CASE("by datagrams, one begins, or both") {
    for (const auto& wishes : {std::vector<Wish>{{0, 1}}, {{0, 1}, {1, 0}}})
        in_every_order({.most_lanes = {8, 8},
                        .before = {},
                        .wishes = wishes,
                        .faults = 1,
                        .waits = 1,
                        .datagrams = {true, true}},
                       promoted(0));
}

TEST_CASE("one begins by datagrams, where the other has none") {
    for (const auto& wishes : {std::vector<Wish>{{0, 1}}, {{0, 1}, {1, 0}}})
        in_every_order({.most_lanes = {8, 8},
                        .before = {},
                        .wishes = wishes,
                        .faults = 1,
                        .waits = 1,
                        .steps = 8,
                        .datagrams = {true, false}},
                       promoted(1));
}

TEST_CASE("one has the other promoted, while both speak") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 1, Wish::promote}, {0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 9,
                    .datagrams = {true, true}},
                   promoted(1));
}

TEST_CASE("both have each other promoted") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 1, Wish::promote}, {1, 0, Wish::promote}, {0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 0,
                    .steps = 9,
                    .datagrams = {true, true}},
                   promoted(1));
}

TEST_CASE("a promoted peer's queue pair is for another, and datagrams carry again") {
    in_every_order({.most_lanes = {1, 8, 8},
                    .before = {{0, 1}, {0, 2}, {0, 1, Wish::promote}, {0, 1}},
                    .wishes = {{0, 2, Wish::promote}, {0, 1}, {1, 0}},
                    .faults = 1,
                    .waits = 1,
                    .steps = 8,
                    .datagrams = {true, true, true}},
                   [](World& world) { CHECK(world.side(0).counters().connections <= 1); });
}

TEST_CASE("endpoints with one queue pair each have two peers promoted") {
    in_every_order({.most_lanes = {1, 1, 1},
                    .before = {{0, 1}, {1, 2}, {2, 0}},
                    .wishes = {{0, 1, Wish::promote}, {1, 2, Wish::promote}, {2, 0, Wish::promote}},
                    .faults = 0,
                    .waits = 1,
                    .steps = 8,
                    .datagrams = {true, true, true}},
                   [](World&) {});
}

TEST_CASE("a lane breaks while its peer is promoted") {
    in_every_order({.most_lanes = {8, 8},
                    .before = {{0, 1}},
                    .wishes = {{0, 1, Wish::promote}, {1, 0, Wish::lose}, {0, 1}, {1, 0}},
                    .faults = 0,
                    .waits = 1,
                    .steps = 9,
                    .datagrams = {true, true}},
                   [](World&) {});
}
