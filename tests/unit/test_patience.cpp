// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/wakeup_cost.hpp"
#include "transfer/patience.hpp"

#include <doctest/doctest.h>

using odrc::Clock;
using odrc::Time;
using odrc::transfer::Patience;
using namespace std::chrono_literals;

namespace {

constexpr auto kT = 80us; // eight times as long as the wake-ups here take

// A watchdog, and a program that polls, or not, and finds something, or not.
struct World {
    // Until then; once in a microsecond.
    void polls_until(Time end, bool finds) {
        while (now < end) {
            now += 1us;
            ++polls.all;
            polls.found += finds;
        }
    }
    std::optional<Time> look() {
        ++looks;
        return patience.look(now, polls);
    }
    // The watchdog's looks from now on while the program polls so long: true if it sleeps before
    // that is over.
    bool watched(Clock::duration time, bool finds) {
        const Time end = now + time;
        for (auto again = look();; again = look()) {
            if (!again) return true;
            if (*again >= end) break;
            polls_until(*again, finds);
        }
        polls_until(end, finds);
        return false;
    }

    Patience patience{10us};
    Patience::Polls polls{};
    Time now{Time{} + 1h};
    int looks{0};
};

} // namespace

TEST_CASE("how long the watchdog waits follows from what it costs to wake it") {
    CHECK(Patience{10us}.time() == kT);
    CHECK(Patience{0us}.time() == Patience::kShortest);
    CHECK(Patience{1s}.time() == Patience::kLongest);
    CHECK(odrc::wakeup_cost() > 0us);
    CHECK(odrc::wakeup_cost() == odrc::wakeup_cost()); // measured once
}

TEST_CASE("what comes while the program does not poll is served at once") {
    World w;
    for (int i = 0; i < 10; ++i, w.now += 1us) CHECK_FALSE(w.look());
}

TEST_CASE("what comes when the program has just polled is its own for T, and then the watchdog's") {
    World w;
    w.polls_until(w.now + 10us, true);
    const auto again = w.look();
    REQUIRE(again == w.now + kT);
    w.now += 1us; // woken for something else
    CHECK(w.look() == again);
    w.now = *again;
    CHECK_FALSE(w.look());
    w.now += 1us; // it has not polled since
    CHECK_FALSE(w.look());
    w.polls_until(w.now + 10us, false);
    CHECK(w.look() == w.now + kT);
}

TEST_CASE("a program that polls is left alone, and looked at more and more seldom") {
    World w;
    w.polls_until(w.now + 10us, true);
    CHECK_FALSE(w.watched(2s, true));
    // Every 5 ms, and before that some times that follow from growing by a quarter.
    CHECK(w.looks > 400);
    CHECK(w.looks < 440);
}

TEST_CASE("that a program has stopped polling shows before a quarter more time has gone by") {
    for (const auto polled : {1us, 50us, 100us, 1000us, 10'000us, 100'000us}) {
        World w;
        w.polls_until(w.now + 1us, true);
        REQUIRE_FALSE(w.watched(polled, true));
        // It may have polled for a part of the watchdog's last sleep, which ends once more before
        // one shows that nothing happened.
        const Time stopped = w.now;
        while (const auto again = w.look()) w.now = *again;
        const Clock::duration late = w.now - stopped;
        const auto leave = std::min<Clock::duration>(kT + polled / 4, Patience::kLongestLeave);
        CHECK(late <= leave + leave * 5 / 4);
    }
}

TEST_CASE("a program that had stopped is left alone for T again") {
    World w;
    w.polls_until(w.now + 10us, true);
    REQUIRE_FALSE(w.watched(100ms, true));
    while (const auto again = w.look()) w.now = *again;
    w.polls_until(w.now + 10ms, true);
    CHECK(w.look() == w.now + kT);
    w.polls_until(w.now + kT, true);
    CHECK(w.look() == w.now + kT);
}

TEST_CASE("a program that sleeps itself, and takes all that comes, is looked at more seldom, too") {
    World w;
    w.polls.sleeps = true;
    const Time end = w.now + 2s;
    std::optional<Time> again; // none: the watchdog sleeps
    for (Time comes = w.now; comes < end; comes += 10 * kT) {
        for (; again && *again < comes; again = w.look()) w.now = *again;
        w.now = comes;
        if (!again) again = w.look(); // both are woken
        w.polls_until(w.now + 2us, true);
    }
    CHECK(w.looks < 3 * 440);
}

TEST_CASE("a program that polls less than once in T has stopped") {
    World w;
    w.polls_until(w.now + 10us, true);
    REQUIRE_FALSE(w.watched(100ms, true));
    int leaves = 0; // that one in which it stopped, and another one
    for (auto again = w.look(); again; again = w.look(), ++leaves) {
        w.now = *again;
        ++w.polls.all;
    }
    CHECK(leaves == 2);
}

TEST_CASE(
    "a program that has its processor in turns with others is not taken for one that computes") {
    World w;
    const Time end = w.now + 2s;
    std::optional<Time> again;
    for (Time runs = w.now; runs < end; runs += 1ms) { // and something comes just after its turn
        for (; again && *again < runs; again = w.look()) w.now = *again;
        w.now = runs;
        ++w.polls.all;
        ++w.polls.found;
        w.now += 1us;
        if (!again) again = w.look();
    }
    CHECK(w.looks < 2 * (2000 + 100) / 2);
    // When it has been otherwise for a moment, it is.
    for (; again; again = w.look()) w.now = *again;
    w.polls_until(w.now + 10ms, true);
    CHECK(w.look() == w.now + kT);
}

TEST_CASE("at a program that polls in vain nobody looks, until something comes") {
    World w;
    w.polls_until(w.now + 10us, true);
    REQUIRE_FALSE(w.watched(100ms, true));
    CHECK(w.watched(1s, false));
    // Its next message is one look more than that, and then it is left alone as long as before.
    w.polls_until(w.now + 1s, false);
    w.polls_until(w.now + 1us, true);
    CHECK(w.look() == w.now + kT);
    w.polls_until(w.now + kT, true);
    CHECK(w.look() == w.now + Patience::kLongestLeave);
}
