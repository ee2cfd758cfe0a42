// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The state SQD: the send queue comes to rest and goes on, the receive queue is not concerned.

#include "events.hpp"
#include "operations.hpp"

using namespace rig;

namespace {

// The move to SQD, with an event when it is done.
Move drain() {
    Move m = to(IBV_QPS_SQD);
    m.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
    m.attr.en_sqd_async_notify = 1;
    return m;
}

void check_drained(const Side& side, const Qp& qp) {
    const AsyncEvent event{side.context};
    CHECK(event->event_type == IBV_EVENT_SQ_DRAINED);
    CHECK(event->element.qp == qp.get());
    CHECK_FALSE(query(qp.get()).sq_draining);
}

} // namespace

TEST_CASE("a send queue at rest is drained at once") {
    Pair p;
    REQUIRE(modify(p.qa.get(), drain()) == 0);
    CHECK(state(p.qa.get()) == IBV_QPS_SQD);
    check_drained(p.a, p.qa);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_RTS)) == 0);
    move_bytes<Send>(p, 100);
}

// Whether a request that waits to be tried again has begun, devices see differently.
TEST_CASE("a send that waits for its receive is not lost by the drain") {
    Pair p;
    REQUIRE(post(p.qa.get(), {.id = 0}) == 0);
    REQUIRE(modify(p.qa.get(), drain()) == 0);
    for (uint64_t i = 0; i < 2; ++i) REQUIRE(post_receive(p.qb.get(), {.id = i}) == 0);
    check_drained(p.a, p.qa);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_RTS)) == 0);
    REQUIRE(post(p.qa.get(), {.id = 1}) == 0);
    for (uint64_t i = 0; i < 2; ++i) {
        CHECK(p.b.received().wr_id == i);
        CHECK(p.a.sent().wr_id == i);
    }
}

TEST_CASE("what is posted to a drained queue waits for RTS") {
    Pair p;
    REQUIRE(modify(p.qa.get(), drain()) == 0);
    check_drained(p.a, p.qa);
    for (uint64_t i = 0; i < 3; ++i) REQUIRE(post_receive(p.qb.get(), {.id = i}) == 0);
    REQUIRE(post(p.qa.get(), {.id = 0}) == 0);
    REQUIRE(post(p.qa.get(), {.id = 1}) == 0);
    // What the other side sends would overtake it, if it were on its way.
    REQUIRE(post_receive(p.qa.get(), {.id = 7}) == 0);
    REQUIRE(post(p.qb.get(), {.id = 8}) == 0);
    CHECK(p.a.received().wr_id == 7);
    CHECK(p.b.sent().wr_id == 8);
    CHECK(p.a.quiet());
    CHECK(p.b.quiet());

    REQUIRE(modify(p.qa.get(), to(IBV_QPS_RTS)) == 0);
    uint64_t sent = 2;
    if (differs(Differs::drained_queue_resumes)) {
        CHECK(p.a.quiet());
        REQUIRE(post(p.qa.get(), {.id = sent++}) == 0);
    }
    for (uint64_t i = 0; i < sent; ++i) {
        CHECK(p.b.received().wr_id == i);
        CHECK(p.a.sent().wr_id == i);
    }
}

TEST_CASE("a drained queue can be changed in what no other state allows") {
    Pair p;
    REQUIRE(modify(p.qa.get(), drain()) == 0);
    check_drained(p.a, p.qa);
    Move m = to(IBV_QPS_SQD);
    m.mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
    m.attr.timeout = 15;
    m.attr.retry_cnt = 3;
    m.attr.rnr_retry = 0;
    REQUIRE(modify(p.qa.get(), m) == 0);
    const ibv_qp_attr told = query(p.qa.get());
    CHECK(told.timeout == 15);
    CHECK(told.retry_cnt == 3);
    CHECK(told.rnr_retry == 0);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_RTS)) == 0);
    REQUIRE(post(p.qa.get(), {.id = 1}) == 0);
    CHECK(p.a.sent().status == IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_CASE("what a drained queue holds is flushed by the move to error") {
    Pair p;
    REQUIRE(modify(p.qa.get(), drain()) == 0);
    check_drained(p.a, p.qa);
    for (uint64_t i = 0; i < 3; ++i) REQUIRE(post(p.qa.get(), {.id = i}) == 0);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_ERR)) == 0);
    for (uint64_t i = 0; i < 3; ++i) {
        const ibv_wc wc = p.a.sent();
        CHECK(wc.wr_id == i);
        CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
    }
}
