// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/room.hpp"

#include <doctest/doctest.h>

using odrc::transfer::Room;
using State = Room::State;

TEST_CASE("room that has become little or none has to be more than that to be more again") {
    Room room{800};
    const auto use = [&](size_t bytes) {
        room.become(room.with(bytes));
        return room.state();
    };
    CHECK(use(399) == State::much);
    CHECK(use(400) == State::little);
    CHECK(use(301) == State::little);
    CHECK(use(299) == State::much);
    CHECK(use(800) == State::none);
    CHECK(use(601) == State::none);
    CHECK(use(599) == State::little);
    CHECK(use(799) == State::little);
    CHECK(use(900) == State::none);
    CHECK(use(0) == State::much);
}
