// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The soft device's failures on demand do what they say. Empty unless they are built in.

#include "soft_rig.hpp"
#include "softrc/faults.hpp"

#ifdef ODRC_FAULTS

using namespace rig;

TEST_CASE("a fault breaks a connection after so many operations, and the rest is flushed") {
    Pair p;
    soft::faults.operations_until_break = 3;
    for (uint64_t i = 0; i < 6; ++i)
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)},
                              {.id = i,
                               .opcode = IBV_WR_RDMA_WRITE,
                               .remote = reinterpret_cast<uint64_t>(p.in_b.data()),
                               .rkey = p.mb->rkey}) == 0);
    for (uint64_t i = 0; i < 6; ++i) {
        const ibv_wc wc = p.a.wait();
        CHECK(wc.wr_id == i);
        CHECK(wc.status == (i < 3    ? IBV_WC_SUCCESS
                            : i == 3 ? IBV_WC_RETRY_EXC_ERR
                                     : IBV_WC_WR_FLUSH_ERR));
    }
}

TEST_CASE("a fault hides the receives for so many tries") {
    SUBCASE("and the sender tries again") {
        Pair p;
        const uint64_t before = p.a.context().rnr_naks();
        REQUIRE(p.b.post_receive(9, p.in_b.data(), 64, p.mb->lkey) == 0);
        soft::faults.without_receive = 2;
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {}) == 0);
        CHECK(p.a.wait().status == IBV_WC_SUCCESS);
        CHECK(p.b.wait().wr_id == 9);
        CHECK(p.a.context().rnr_naks() > before);
        CHECK(soft::faults.without_receive == 0);
    }
    SUBCASE("or gives up, where it may not") {
        Pair p{{.rnr_retry = 0}};
        REQUIRE(p.b.post_receive(9, p.in_b.data(), 64, p.mb->lkey) == 0);
        soft::faults.without_receive = 1'000'000'000;
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {}) == 0);
        CHECK(p.a.wait().status == IBV_WC_RNR_RETRY_EXC_ERR);
        soft::faults.without_receive = 0;
    }
}

TEST_CASE("a fault delays completions by so many polls") {
    Pair p;
    soft::faults.empty_polls = 5;
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)},
                          {.opcode = IBV_WR_RDMA_WRITE,
                           .remote = reinterpret_cast<uint64_t>(p.in_b.data()),
                           .rkey = p.mb->rkey}) == 0);
    for (int i = 0; i < 5; ++i) CHECK_FALSE(p.a.poll());
    CHECK(p.a.poll());
}

TEST_CASE("a fault fails so many registrations") {
    Side side;
    char byte;
    soft::faults.failed_registrations = 1;
    CHECK_FALSE(side.register_memory(&byte, 1, 0));
    CHECK(errno == ENOMEM);
    CHECK(side.register_memory(&byte, 1, 0));
}

#endif
