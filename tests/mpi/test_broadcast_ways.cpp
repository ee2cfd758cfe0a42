// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "broadcast_way.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace odrc::mpi;
using Kind = BroadcastWay::Kind;

namespace {

constexpr Tree kTrees[] = {Tree::binomial, Tree::knomial, Tree::binary, Tree::chain};
// By LogGP.
LinkCosts link(double latency, double gap, double byte) {
    LinkCosts costs;
    for (size_t i = 0; i < costs.at.size(); ++i) {
        const double bytes = byte * static_cast<double>(LinkCosts::kSizes[i]);
        costs.at[i] = {.hop = latency + bytes, .send = gap + bytes};
    }
    return costs;
}

const LinkCosts kQuick = link(1e-6, 0.2e-6, 0.1e-9);
const LinkCosts kFar = link(50e-6, 1e-6, 1e-9);

// When the last member has all, if each sends one packet after the other, each to one child after
// the other.
double simulated(Tree tree, size_t packet, size_t packets, int members, const LinkCosts& costs) {
    std::vector<std::vector<double>> there(static_cast<size_t>(members));
    there[0].assign(packets, 0);
    std::vector<int> order{0};
    double last = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        const auto children = place_in(tree, order[i], 0, members).children;
        const auto& mine = there[static_cast<size_t>(order[i])];
        double free = 0;
        for (size_t p = 0; p < packets; ++p) {
            for (const int child : children) {
                free = std::max(free, mine[p]);
                there[static_cast<size_t>(child)].push_back(free + costs.hop(packet));
                free += costs.send(packet);
            }
        }
        last = std::max(last, mine.back());
        order.insert(order.end(), children.begin(), children.end());
    }
    return last;
}

BroadcastWay quickest(size_t bytes, int members, const LinkCosts& costs,
                      std::string_view wish = "") {
    return quickest_way(bytes, members, costs, broadcast_wish(wish).value());
}

} // namespace

TEST_CASE("what is expected of a tree is what comes of it when each does one thing at a time") {
    for (const auto& costs : {kQuick, kFar}) {
        for (const Tree tree : kTrees) {
            for (const int members : {2, 3, 4, 7, 8, 16, 33, 64}) {
                for (const size_t packets : {1, 8, 100}) {
                    CAPTURE(int(tree));
                    CAPTURE(members);
                    CAPTURE(packets);
                    const size_t packet = 8192;
                    const BroadcastWay way{.kind = Kind::tree, .tree = tree, .packet = packet};
                    const double expected = expected_time(way, packet * packets, members, costs);
                    const double comes = simulated(tree, packet, packets, members, costs);
                    CHECK(expected > 0.75 * comes);
                    CHECK(expected < 1.6 * comes);
                }
            }
        }
    }
}

TEST_CASE("no way is chosen beside which another one is expected to be quicker") {
    for (const auto& costs : {kQuick, kFar}) {
        for (const int members : {2, 5, 16, 64}) {
            for (size_t bytes = 1; bytes <= size_t{16} << 20; bytes *= 16) {
                const double time =
                    expected_time(quickest(bytes, members, costs), bytes, members, costs);
                for (const Tree tree : kTrees)
                    for (const size_t packet : {size_t{8} << 10, BroadcastWay::kWhole})
                        CHECK(time <=
                              expected_time({.kind = Kind::tree, .tree = tree, .packet = packet},
                                            bytes, members, costs));
                CHECK(time <= expected_time({.kind = Kind::scatter}, bytes, members, costs));
            }
        }
    }
}

TEST_CASE("few steps for what is short, and packets or parts for what is long") {
    const BroadcastWay one = quickest(8, 64, kQuick);
    CHECK(one.kind == Kind::tree);
    CHECK((one.tree == Tree::binomial || one.tree == Tree::knomial));
    const BroadcastWay many = quickest(16 << 20, 16, kQuick);
    CHECK((many.kind == Kind::scatter || many.packet < BroadcastWay::kWhole));
}

TEST_CASE("what costs are between and beyond the sizes that were measured") {
    CHECK(kFar.hop(8) == doctest::Approx(50.008e-6));
    CHECK(kFar.hop(20 << 10) == doctest::Approx(50e-6 + 1e-9 * (20 << 10)));
    CHECK(kFar.send(4 << 20) == doctest::Approx(1e-6 + 1e-9 * (4 << 20)));
    LinkCosts costs = kFar; // measured, and so not quite as it should be
    costs.at[0].send = 2 * costs.at[1].send;
    CHECK(costs.send(0) > 0);
    costs.at[4].send = 0;
    CHECK(costs.send(64 << 20) >= 0);
}

TEST_CASE("processes that share processors have few packets, for these take all of them") {
    LinkCosts crowded = kQuick;
    for (auto& cost : crowded.at) cost.send += 3e-6;
    CHECK(quickest(1 << 20, 8, crowded).packet < BroadcastWay::kWhole);
    crowded.crowding = 8;
    CHECK(quickest(1 << 20, 8, crowded).packet == BroadcastWay::kWhole);
}

TEST_CASE("what is wished for is what comes") {
    CHECK(quickest(8, 64, kQuick, "chain").tree == Tree::chain);
    CHECK(quickest(8, 64, kQuick, "scatter").kind == Kind::scatter);
    CHECK(quickest(1 << 20, 64, kQuick, "binary:5000").packet == 5000);
    CHECK(quickest(1 << 20, 64, kQuick, "binary:whole").packet == BroadcastWay::kWhole);
    CHECK(quickest(1 << 20, 64, kQuick, "chain").packet < BroadcastWay::kWhole);
    CHECK(broadcast_wish("group")->kind == Kind::group);
    for (const auto* text :
         {"star", "binary:", "binary:0", "binary:8k", "group:8", "scatter:1", ":8"}) {
        CAPTURE(text);
        CHECK_FALSE(broadcast_wish(text));
    }
}
