// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whatever was expected, the scheme is taken that turns out to be the quickest.

#include "messages_alike.hpp"

using namespace alike;

TEST_CASE("the quickest is taken, though another one was expected to be") {
    Messages messages{{100, 200, 300, 90, 400}};
    const Expected take{100, 100, 60, 150, 200};
    messages.go(kMany, take);
    const auto went = messages.go(kMany, take);
    CHECK(went[2] >= kMany - 16); // others are tried again
}

TEST_CASE("what cannot be taken, or is hopeless, never is") {
    Messages messages{{100, 100, kNever, 100, 5000}};
    const auto went = messages.go(10'000, {100, 160, 1, 170, 1});
    CHECK(went[2] == 0);
    CHECK(went[4] == 0);
    CHECK(went[0] > 9850);
}

TEST_CASE("what is quicker when it has been taken for a while is found") {
    Messages messages{{100, 100, kNever, kNever, kNever}};
    messages.go(8, {100, 120, 0, 0, 0});
    messages.go(kMany, {100, 90, 0, 0, 0});
    CHECK(messages.go(kMany, {100, 90, 0, 0, 0})[1] >= kMany - 16);
}

TEST_CASE("what becomes quicker is found, what becomes slower is left") {
    Messages messages{{100, 100, 100, 100, 100}};
    messages.go(kMany, {100, 110, 150, 190, 300});
    messages.go(10'000, {100, 110, 150, 50, 300});
    CHECK(messages.go(kMany, {100, 110, 150, 50, 300})[3] >= kMany - 16); // others are tried again
    messages.go(kMany, {100, 110, 150, 500, 300});
    CHECK(messages.go(kMany, {100, 110, 150, 500, 300})[0] >= kMany - 16); // others are tried again
}

TEST_CASE("one of eight tells of a way that goes on and on, and of what it becomes") {
    Messages messages{{100, 100, kNever, kNever, kNever}};
    constexpr Expected kTake{100, 50, 0, 0, 0};
    messages.go(20'000, kTake);
    const size_t looks_before = looks;
    CHECK(messages.go(800, kTake)[1] == 800);
    CHECK(looks - looks_before == 2 * 100); // at the clock
    Expected expected{100, 100, kNever, kNever, kNever}, without{100, kNever, 100, kNever, kNever};
    const auto go = [&](Expected& e) {
        const auto begun = messages.experience().begin(kKind, kBytes, e);
        if (begun.ticket) messages.experience().end(*begun.ticket, kBytes);
        return begun.way;
    };
    CHECK(go(expected) == Scheme::bc_spup);
    CHECK(expected[1] == doctest::Approx(50));
    CHECK(messages.experience().news(kKind) == Experience::News{Scheme::bc_spup, 0});
    CHECK(go(without) != Scheme::bc_spup);
    messages.go(kMany, {100, 150, 0, 0, 0});
    CHECK(messages.go(kMany, {100, 150, 0, 0, 0})[0] > kMany - 32);
}

TEST_CASE("others are tried more and more seldom, until the quickest one takes longer") {
    Messages messages{{100, 100, 100, kNever, kNever}};
    const auto others = [&](size_t bursts, const Expected& take) {
        return bursts - messages.go(bursts, take)[1];
    };
    constexpr Expected kTake{100, 50, 120, 0, 0}, kSlower{100, 80, 120, 0, 0};
    const size_t first = others(10'000, kTake);
    others(50'000, kTake);
    CHECK(others(10'000, kTake) < first / 4);
    CHECK(others(10'000, kSlower) > first / 2);
}

TEST_CASE("one that something else has held up does not count for much") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    messages.go(kMany, {100, 120, 0, 0, 0});
    messages.go(1, {1'000'000, 120, 0, 0, 0});
    messages.go(kMany, {100, 120, 0, 0, 0});
    CHECK(messages.go(kMany, {100, 120, 0, 0, 0})[0] >= kMany - 16); // others are tried again
}

TEST_CASE("one that is late again and again is left soon") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    messages.go(kMany, {100, 500, 0, 0, 0}, 64);
    CHECK(messages.go(20, {3000, 500, 0, 0, 0}, 64)[1] > 10);
}

TEST_CASE("where one alone tells nothing, what is expected of it counts") {
    Messages messages{{100, 110, kNever, kNever, kNever}, Experience::Of::many_at_once};
    constexpr Expected kTake{100, 50, 0, 0, 0};
    CHECK(messages.go(kMany, kTake)[0] == kMany);
    messages.go(50, kTake, 32);
    CHECK(messages.go(20, kTake, 32)[1] == 20);
    messages.go(1, kTake);
    CHECK(messages.go(kMany, kTake)[0] == kMany);
}

TEST_CASE("where nothing is to be learned, what is expected counts") {
    Messages messages{{110, 100, kNever, kNever, kNever}, Experience::Of::none};
    constexpr Expected kTake{50, 100, 0, 0, 0};
    CHECK(messages.go(kMany, kTake)[1] == kMany);
    CHECK(messages.go(50, kTake, 32)[1] == 50);
}

TEST_CASE("those that never end all at once are a new burst from time to time") {
    Experience experience{Experience::Of::all, clock};
    std::vector<Experience::Begun> under_way;
    std::array<size_t, kSchemes> last{};
    for (size_t i = 0; i < 8000; ++i) {
        Expected expected{100, 100, 5000, 5000, 5000};
        under_way.push_back(experience.begin(kKind, kBytes, expected));
        if (i > 7000) ++last[static_cast<size_t>(under_way.back().way)];
        if (under_way.size() < 20) continue;
        now += under_way.front().way == Scheme::generic ? 100 : 50;
        experience.end(*under_way.front().ticket, kBytes);
        under_way.erase(under_way.begin());
    }
    CHECK(last[1] > 900);
}

TEST_CASE("what has failed is not learned of, what cannot be taken in a burst goes otherwise") {
    Experience experience{Experience::Of::all, clock};
    for (int i = 0; i < 120; ++i) {
        Expected expected{100, 100, 5000, 5000, 5000};
        const auto begun = experience.begin(kKind, kBytes, expected);
        now += begun.way == Scheme::bc_spup ? 1 : 100;
        experience.end(*begun.ticket, begun.way == Scheme::bc_spup ? 0 : kBytes);
    }
    Expected expected{100, 100, 5000, 5000, 5000}, without{kNever, 100, 2000, 2000, 2000};
    CHECK(experience.begin(kKind, kBytes, expected).way == Scheme::generic);
    const auto otherwise = experience.begin(kKind, kBytes, without);
    CHECK(otherwise.way == Scheme::bc_spup);
    CHECK(!otherwise.ticket);
}

TEST_CASE("the quickest is not taken for a message with which it cannot be") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    const auto went = messages.go(kMany, {100, 50, 0, 0, 0});
    CHECK(went[1] > kMany / 2);
    Expected without{100, kNever, 5000, 5000, 5000};
    const auto begun = messages.experience().begin(kKind, kBytes, without);
    CHECK(begun.way == Scheme::generic);
    CHECK(begun.ticket);
}

TEST_CASE("kinds are learned of apart, and what ends of a kind that was forgotten is nothing") {
    Experience experience{Experience::Of::all, clock};
    const auto go = [&](const MessageKind& kind, const Expected& take) {
        for (size_t i = 0; i < kMany; ++i) {
            Expected expected{100, 100, 5000, 5000, 5000};
            const auto begun = experience.begin(kind, kBytes, expected);
            now += take[static_cast<size_t>(begun.way)];
            experience.end(*begun.ticket, kBytes);
        }
    };
    constexpr MessageKind kOthers[]{
        {.bytes = 20, .out = {.piece = 9, .median = 3, .extent = 22}, .in = kSide},
        {.bytes = 20, .out = kSide, .in = {.piece = 9, .median = 9, .extent = 24}}};
    go(kKind, {100, 50, 0, 0, 0});
    for (const auto& other : kOthers) go(other, {50, 100, 0, 0, 0});
    Expected expected{100, 100, 5000, 5000, 5000};
    const auto begun = experience.begin(kKind, kBytes, expected);
    CHECK(begun.way == Scheme::bc_spup);
    CHECK(expected[1] == doctest::Approx(50));
    CHECK(expected[0] == doctest::Approx(100));
    for (const auto& other : kOthers)
        CHECK(experience.begin(other, kBytes, expected).way == Scheme::generic);
    for (uint8_t out = 0; out < 64; ++out)
        for (uint8_t median = 0; median < 8; ++median)
            go({.bytes = 20, .out = {out, median, 22}, .in = kSide}, {1, 1, 1, 1, 1});
    experience.end(*begun.ticket, kBytes);
}

TEST_CASE("a way that does badly at first is tried again soon") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(8, {300, 150, 0, 0, 0}); // both for the first time
    const auto went = messages.go(kMany, {100, 150, 0, 0, 0});
    CHECK(went[0] > went[1]);
}

TEST_CASE("what is tried before all others, when everything is new to it, is tried twice") {
    Messages messages{{110, 100, kNever, 120, 130}};
    CHECK(messages.go(4, {0, 500, 0, 0, 0})[1] == 4);
    const auto went = messages.go(kMany, {120, 80, 0, 300, 400});
    CHECK(went[1] > kMany / 2);
}

TEST_CASE("what is taken where nothing is chosen is tried twice, wherever in the row it came") {
    Messages messages{{110, 100, 120, kNever, 130}};
    messages.go(4, {0, 90, 0, 0, 0});
    CHECK(messages.go(4, {500, 90, 0, 0, 0})[0] == 4);
    const auto went = messages.go(kMany, {60, 90, 300, 0, 400});
    CHECK(went[0] > kMany / 2);
}
