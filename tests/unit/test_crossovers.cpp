// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Which way overtakes which, by what each takes.

#include "base/watchdog.hpp"
#include "soft_rig.hpp"
#include "transfer/crossovers.hpp"
#include "transfer/device_costs.hpp"

#include <doctest/doctest.h>

using namespace odrc;
using namespace odrc::transfer;
using namespace std::chrono_literals;

namespace {

constexpr auto kEager = static_cast<uint32_t>(wire::kEagerLimit);
constexpr auto kSliced = static_cast<uint32_t>(wire::kSlicedLimit);
// Of a device that knows all memory, and of one that does not.
constexpr CrossoverRange kKnows{
    {512, 0, 0, 1024, 0}, {2048, kEager, kEager, kEager, kSliced}, {2048, 0, 0, kEager, kSliced}};
constexpr CrossoverRange kRegisters{
    {512, 0, 0, 1024, 0}, {2048, kEager, kEager, kEager, 0}, {2048, 0, kEager, kEager, 0}};

// What soft0 and a soft-RoCE device take (bench/figures/logp.md).
DeviceCosts soft0() {
    return {.of_size = {{{53, 65, 70, 55, 9},
                         {58, 70, 82, 60, 15},
                         {67, 78, 101, 72, 26},
                         {90, 100, 140, 90, 50},
                         {140, 138, 219, 129, 78}}},
            .word = 50,
            .found = 0,
            .fresh = 0};
}
DeviceCosts soft_roce() {
    return {.of_size = {{{32000, 32300, 33100, 54000, 20},
                         {40000, 40500, 42000, 62000, 40},
                         {56000, 56500, 58000, 80000, 80},
                         {90000, 91000, 95000, 130000, 300},
                         {150000, 147000, 153000, 221000, 1000}}},
            .word = 27000,
            .found = 400,
            .fresh = 60000};
}

// Each of them longer or shorter by so much, in turns.
DeviceCosts with_noise(DeviceCosts costs, double part, int seed) {
    for (auto& of_size : costs.of_size)
        for (double* cost :
             {&of_size.inlined, &of_size.gathered, &of_size.copied, &of_size.read, &of_size.taken})
            *cost *= seed++ % 2 ? 1 + part : 1 - part;
    return costs;
}

} // namespace

TEST_CASE("where devices have been measured, what always held is chosen") {
    CHECK(choose(soft0(), kKnows) == kKnows.usual);
    CHECK(choose(soft_roce(), kRegisters) == kRegisters.usual);
}

TEST_CASE("a little noise changes nothing") {
    for (int seed = 0; seed < 2; ++seed) {
        CHECK(choose(with_noise(soft0(), 0.05, seed), kKnows) == kKnows.usual);
        CHECK(choose(with_noise(soft_roce(), 0.05, seed), kRegisters) == kRegisters.usual);
    }
}

TEST_CASE("inline data that goes slowly is gathered") {
    DeviceCosts costs = soft0();
    costs.of_size[2].inlined = 200;
    CHECK(choose(costs, kKnows) == Crossovers{1024, 0, 0, kEager, kSliced});
    costs.of_size[1].inlined = 200;
    CHECK(choose(costs, kKnows) == Crossovers{512, 0, 0, kEager, kSliced});

    SUBCASE("what is slow for no more than one length is chance") {
        costs = soft0();
        costs.of_size[1].inlined = 200;
        CHECK(choose(costs, kKnows) == kKnows.usual);
    }
    SUBCASE("rings go inline in any case") {
        costs.of_size[0].inlined = 200;
        CHECK(choose(costs, kKnows).inlined == 512);
    }
    SUBCASE("nothing is chosen that the device does not have") {
        CrossoverRange little = kKnows;
        little.usual.inlined = little.most.inlined = 828;
        CHECK(choose(costs, little).inlined == 828);
        little.least.inlined = little.usual.inlined = little.most.inlined = 64;
        CHECK(choose(costs, little).inlined == 64);
    }
}

TEST_CASE("what a device finds slowly by itself is copied") {
    DeviceCosts costs = soft0();
    costs.of_size[0].gathered = costs.of_size[1].gathered = 400;
    CHECK(choose(costs, kKnows) == Crossovers{2048, 1024, 1024, kEager, kSliced});
    costs.of_size[0].gathered = 65;
    CHECK(choose(costs, kKnows) == kKnows.usual);

    SUBCASE("of what the program has registered, where the device does not know the rest") {
        costs = soft_roce();
        costs.of_size[0].gathered = 50000;
        CHECK(choose(costs, kRegisters) == Crossovers{2048, 512, kEager, kEager, 0});
    }
}

TEST_CASE("what is copied slowly is registered, if that is worth the while") {
    DeviceCosts costs = soft_roce();
    costs.of_size[4].copied = 250000;
    costs.of_size[3].copied = 190000;
    CHECK(choose(costs, kRegisters).unregistered == 2048);
    CHECK(choose(costs, kRegisters).copied == 0);

    SUBCASE("registering takes too long") {
        costs.fresh = 5e6;
        CHECK(choose(costs, kRegisters).unregistered == kEager);
    }
    SUBCASE("and so does finding it again") {
        costs.found = 200000;
        CHECK(choose(costs, kRegisters).unregistered == kEager);
    }
}

TEST_CASE("what is copied twice is read, if that is clearly faster") {
    DeviceCosts costs = soft0();
    for (auto& of_size : costs.of_size) of_size.taken *= 5;
    CHECK(choose(costs, kKnows).eager == 2048);

    SUBCASE("nothing that was injected") {
        for (auto& of_size : costs.of_size) of_size.taken = 10000;
        CHECK(choose(costs, kKnows).eager == kInjectSize);
    }
    SUBCASE("unless words take long, or memory has to be found") {
        costs.word = 1000;
        CHECK(choose(costs, kKnows).eager == kEager);
        costs.word = 50;
        costs.found = 1000;
        CHECK(choose(costs, kKnows).eager == kEager);
    }
}

TEST_CASE("a device is asked over a connection to itself") {
    Watchdog watchdog;
    verbs::Adapter adapter{rig::soft_device(), Gate::Kind::one_thread, watchdog};
    const auto costs = measure(adapter, 10s);
    REQUIRE(costs);
    for (size_t i = 0; i < kComparedSizes.size(); ++i) {
        const auto& of_size = costs->of_size[i];
        CHECK((of_size.inlined > 0) == true);
        CHECK((of_size.inlined < 1e9) == (kComparedSizes[i] <= adapter.max_inline()));
        for (const double cost : {of_size.gathered, of_size.copied, of_size.read, of_size.taken}) {
            CHECK(cost > 0);
            CHECK(cost < 1e9);
        }
    }
    CHECK(costs->found == 0); // it knows all memory
    CHECK_FALSE(measure(adapter, 0s));
}
