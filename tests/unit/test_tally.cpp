// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/tally.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <rdma/fi_errno.h>

using odrc::transfer::Tally;

namespace {

bool readable(int fd) {
    pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&p, 1, 0) == 1;
}

} // namespace

TEST_CASE("a tally keeps successes and errors apart") {
    Tally tally{true, false};
    tally.count(0);
    tally.count(FI_ECANCELED);
    tally.count(0);
    CHECK(tally.numbers() == Tally::Numbers{2, 1});
    tally.add({10, 20});
    CHECK(tally.numbers() == Tally::Numbers{12, 21});
    tally.set_successes(3);
    tally.set_errors(4);
    CHECK(tally.numbers() == Tally::Numbers{3, 4});
    CHECK(tally.fd() == -1);
}

TEST_CASE("any change of a tally wakes who armed it, once") {
    Tally tally{false, true};
    tally.count(0);
    CHECK_FALSE(readable(tally.fd()));
    void (*const changes[])(Tally&) = {
        [](Tally& t) { t.count(0); }, [](Tally& t) { t.count(FI_EIO); },
        [](Tally& t) { t.set_successes(0); }, [](Tally& t) { t.set_errors(0); }};
    for (const auto change : changes) {
        tally.arm();
        CHECK_FALSE(readable(tally.fd()));
        change(tally);
        CHECK(readable(tally.fd()));
    }
}

TEST_CASE("what the program changes itself is no news to it") {
    Tally tally{false, false};
    CHECK_FALSE(tally.take_news());
    tally.count(0);
    CHECK(tally.take_news());
    CHECK_FALSE(tally.take_news());
    tally.count(FI_EIO);
    tally.add({5, 0});
    CHECK_FALSE(tally.take_news());
}
