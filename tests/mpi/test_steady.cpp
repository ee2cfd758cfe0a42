// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages that are not looked at, and what is known of their kind as if they had been.

#include "messages_alike.hpp"
#include "nestings.hpp"
#include "schemes/rhythm.hpp"
#include "schemes/steady.hpp"

#include <random>

using namespace alike;
using nestings::owned;

TEST_CASE("so many messages are steady as are allowed, one at a time, and none but alike") {
    const auto rows = owned(make_vector(4, 2, 8, *Datatype::of(MPI_INT)));
    const auto others = owned(make_vector(4, 2, 8, *Datatype::of(MPI_INT)));
    const auto farther = owned(make_resized(*rows, 0, 256));
    std::array<std::byte, 1024> memory{};
    const Data data{memory.data(), 2, *rows};
    Steady steady;
    CHECK_FALSE(steady.begin(data));
    steady.allow(data, kKind, 3);
    CHECK_FALSE(steady.begin({memory.data(), 1, *rows}));
    CHECK_FALSE(steady.begin({memory.data(), 2, *others}));
    CHECK_FALSE(steady.begin({memory.data(), 2, *farther}));
    REQUIRE(steady.begin(data));
    CHECK_FALSE(steady.begin(data)); // the first one is under way
    CHECK_FALSE(steady.end({.place = kKind.place(), .generation = 0, .burst = 0}));
    CHECK_FALSE(steady.begin(data));
    CHECK(steady.end(Steady::ticket()));
    REQUIRE(steady.begin({memory.data() + 8, 2, *rows})); // wherever it lies
    steady.end(Steady::ticket());
    REQUIRE(steady.begin(data));
    steady.end(Steady::ticket());
    CHECK_FALSE(steady.begin(data));
    auto [kind, messages] = steady.stop();
    CHECK(kind == kKind);
    CHECK(messages == 3);
    CHECK(steady.stop().messages == 0);
    steady.allow(data, kKind, 3);
    steady.stop();
    CHECK_FALSE(steady.begin(data));
}

TEST_CASE("a datatype's memory that another one has got does not make it steady") {
    std::array<std::byte, 1024> memory{};
    Steady steady;
    {
        const auto rows = owned(make_vector(4, 2, 8, *Datatype::of(MPI_INT)));
        steady.allow({memory.data(), 1, *rows}, kKind, 1);
    }
    for (int i = 0; i < 100; ++i) {
        const auto other = owned(make_vector(2, 2, 24, *Datatype::of(MPI_INT))); // as long
        CHECK_FALSE(steady.begin({memory.data(), 1, *other}));
    }
}

TEST_CASE("a rhythm tells the same without those that tell nothing") {
    Rhythm all{clock}, some{clock};
    std::mt19937 random{1};
    uint32_t untold = 0, left_out = 0;
    size_t looks_of_all = 0, looks_of_some = 0;
    const auto go = [&](bool is_offered) {
        const size_t before_all = looks;
        all.begin(kKind, is_offered);
        all.end(kKind.place());
        all.came(kKind);
        const size_t before = looks;
        if (untold > 0 && !is_offered) {
            --untold;
            ++left_out;
        } else {
            some.went(kKind, std::exchange(left_out, 0));
            some.begin(kKind, is_offered);
            some.end(kKind.place());
            if (!is_offered) untold = some.untold(kKind);
        }
        some.came(kKind);
        looks_of_all += before - before_all;
        looks_of_some += looks - before;
        now += 500 + random() % 1000;
        CHECK(all.pace(kKind).as_it_is == some.pace(kKind).as_it_is);
    };
    uint32_t begun = 0;
    for (int i = 0; i < 1000; ++i) {
        const bool is_offered = random() % 64 == 0;
        begun += untold == 0 || is_offered;
        if (is_offered) untold = 0;
        go(is_offered);
    }
    CHECK(all.pace(kKind).as_it_is > 0);
    CHECK(looks_of_some == looks_of_all);
    CHECK(begun < 600);
    begun = 0;
    for (int i = 0; i < 1000; ++i) {
        begun += untold == 0;
        go(false);
    }
    CHECK(begun < 100);
}

TEST_CASE("those that have gone are so many fewer that are settled") {
    Experience experience{Experience::Of::many_at_once, clock};
    Expected expected{100, 90, kNever, kNever, kNever};
    const auto begin = [&] {
        const auto begun = experience.begin(kKind, kBytes, expected);
        experience.end(*begun.ticket, kBytes);
        return begun.way;
    };
    CHECK_FALSE(experience.go_alone(kKind)); // none has gone
    CHECK(begin() == Scheme::bc_spup);
    CHECK(experience.go_alone(kKind));
    CHECK(experience.settled(kKind) == 0);
    experience.settle(kKind, Scheme::generic, 10);
    CHECK(begin() == Scheme::generic);
    CHECK(experience.settled(kKind) == 9);
    experience.went(kKind, 8);
    CHECK(experience.settled(kKind) == 1);
    CHECK(begin() == Scheme::generic);
    CHECK(begin() == Scheme::bc_spup);
    experience.settle(kKind, Scheme::generic, 10);
    experience.went(kKind, 11);
    CHECK(begin() == Scheme::bc_spup);
    const auto first = experience.begin(kKind, kBytes, expected);
    begin(); // while that one is under way
    experience.end(*first.ticket, kBytes);
    CHECK_FALSE(experience.go_alone(kKind));
}
