// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The path MTU that a port asks for: what it has itself, or less if FI_ODRC_MTU says so.

#include "base/parameters.hpp"
#include "verbs_rc/queue_pair.hpp"

#include <cstdlib>
#include <doctest/doctest.h>

using namespace odrc;

namespace {

int mtu_of(ibv_mtu port_has, const char* wanted) {
    if (wanted)
        setenv("FI_ODRC_MTU", wanted, 1);
    else
        unsetenv("FI_ODRC_MTU");
    define_parameters();
    verbs::Port port;
    port.port_attr.active_mtu = port_has;
    return verbs::local_address(port).mtu;
}

} // namespace

TEST_CASE("the path MTU is the port's, or a smaller one that is asked for") {
    CHECK(mtu_of(IBV_MTU_4096, nullptr) == IBV_MTU_4096);
    CHECK(mtu_of(IBV_MTU_1024, nullptr) == IBV_MTU_1024);
    CHECK(mtu_of(IBV_MTU_4096, "2048") == IBV_MTU_2048);
    CHECK(mtu_of(IBV_MTU_4096, "256") == IBV_MTU_256);
    CHECK(mtu_of(IBV_MTU_1024, "4096") == IBV_MTU_1024);
    CHECK(mtu_of(IBV_MTU_4096, "1000") == IBV_MTU_4096); // there is none of these, as the log says
    CHECK(mtu_of(IBV_MTU_4096, nullptr) == IBV_MTU_4096);
}
