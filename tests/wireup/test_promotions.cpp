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
