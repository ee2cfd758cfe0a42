// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// A job that is too large for connections to all of it. By default, that is: FI_ODRC_CONNECT=all
// makes as many as the device has queue pairs, which are a million in some.

#include "job.hpp"

using namespace duo;

TEST_CASE("a job with more processes than queue pairs connects on demand") {
    Company c{1};
    c.add(place(0, 60000));
    c.add(place(59999, 60000));
    c.introduce_all();
    c.all_talk();
    CHECK(c.datagrams() > 0);
}
