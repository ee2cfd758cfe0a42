// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/pace.hpp"

#include <doctest/doctest.h>

using odrc::Time;
using odrc::ondemand::Pace;
using namespace std::chrono_literals;

TEST_CASE("requests that are answered in time go out as many at a time as ever") {
    Pace pace;
    for (int i = 0; i < 1000; ++i) pace.answered(Time{} + i * 1ms, Time{} + i * 1ms + 3ms, false);
    CHECK(pace.requests() == Pace::kMost);
    CHECK(pace.wait() == Pace::kShortestWait);
}

TEST_CASE("late answers make them fewer, once for all that are under way, and never too few") {
    Pace pace;
    for (int i = 0; i < 128; ++i) pace.late(Time{} + 1s, Time{} + 2s);
    CHECK(pace.requests() == Pace::kMost / 2);
    CHECK(pace.wait() == 2 * Pace::kShortestWait);
    for (int i = 2; i < 20; ++i) pace.late(Time{} + i * 1s, Time{} + i * 1s + 500ms);
    CHECK(pace.requests() == Pace::kLeast);
    CHECK(pace.wait() == Pace::kLongestWait);
    pace.answered(Time{} + 30s, Time{} + 30s + 2ms, false); // and that was long ago
    CHECK(pace.wait() == Pace::kShortestWait);
}

TEST_CASE("answers make them more again, one at a time") {
    Pace pace;
    for (int i = 1; i < 20; ++i) pace.late(Time{} + i * 1s, Time{} + i * 1s);
    uint32_t answers = 0;
    while (pace.requests() < Pace::kMost) {
        const uint32_t before = pace.requests();
        for (uint32_t i = 0; i < before; ++i, ++answers) {
            CHECK(pace.requests() == before);
            pace.answered(Time{} + 30s, Time{} + 30s + 1ms, false);
        }
        CHECK(pace.requests() == before + 1);
    }
    CHECK(pace.wait() == Pace::kShortestWait);
}

TEST_CASE("the wait follows what answers take, if it is known") {
    Pace pace;
    for (int i = 0; i < 100; ++i) pace.answered(Time{}, Time{} + 200ms, true);
    CHECK(pace.wait() == Pace::kShortestWait);
    for (int i = 0; i < 100; ++i) pace.answered(Time{}, Time{} + 100ms, false);
    CHECK(pace.wait() > 350ms);
    CHECK(pace.wait() <= 400ms);
    for (int i = 0; i < 100; ++i) pace.answered(Time{}, Time{} + 10s, false);
    CHECK(pace.wait() == Pace::kLongestWait);
}
