// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Slow slices are left out for a while.

#include "transfer/slice_pace.hpp"

#include <doctest/doctest.h>

using odrc::transfer::SlicePace;
using namespace std::chrono_literals;

namespace {

constexpr size_t kBytes = 16 << 10;
constexpr auto kQuick = 2us, kSlow = 6us;

// How many messages are left out until one goes in slices again.
uint32_t left_out(SlicePace& pace) {
    uint32_t messages = 0;
    while (!pace.is_quick()) ++messages;
    return messages;
}

} // namespace

TEST_CASE("as long as slices are quick all messages may go so") {
    SlicePace pace;
    for (int i = 0; i < 1000; ++i) {
        CHECK(pace.is_quick());
        pace.took(kQuick, kBytes);
    }
}

TEST_CASE("slow slices are left out, each time for longer") {
    SlicePace pace;
    for (uint32_t expected = SlicePace::kFewest; expected < SlicePace::kMost; expected *= 2) {
        pace.took(kSlow, kBytes);
        CHECK(left_out(pace) == expected);
    }
    for (int i = 0; i < 3; ++i) {
        pace.took(kSlow, kBytes);
        CHECK(left_out(pace) == SlicePace::kMost);
    }

    SUBCASE("and once they are quick again, all is as it was") {
        pace.took(kQuick, kBytes);
        CHECK(left_out(pace) == 0);
        pace.took(kSlow, kBytes);
        CHECK(left_out(pace) == SlicePace::kFewest);
    }
}

TEST_CASE("the same time is quick for a long message and slow for a short one") {
    SlicePace pace;
    pace.took(4us, 32 << 10);
    CHECK(pace.is_quick());
    pace.took(4us, 8 << 10);
    CHECK_FALSE(pace.is_quick());
}
