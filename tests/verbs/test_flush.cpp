// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What becomes of requests whose queue pair goes into error, is reset or destroyed.

#include "operations.hpp"

using namespace rig;

namespace {

void check_flushed(const ibv_wc& wc, const Qp& qp, uint64_t id) {
    CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(wc.wr_id == id);
    CHECK(wc.qp_num == qp->qp_num);
}

// Without a receive at the peer, sends stay outstanding.
void post_waiting_sends(Pair& p, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        REQUIRE(post(p.qa.get(), {.id = i, .segments = {p.ma.segment(0, 8)}}) == 0);
}

void post_receives(const Qp& qp, const Region& region, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        REQUIRE(post_receive(qp.get(), {.id = i, .segments = {region.segment(0, 8)}}) == 0);
}

} // namespace

TEST_CASE("the move to error flushes receives in order") {
    Pair p;
    post_receives(p.qb, p.mb, 5);
    REQUIRE(modify(p.qb.get(), to(IBV_QPS_ERR)) == 0);
    for (uint64_t i = 0; i < 5; ++i) check_flushed(p.b.received(), p.qb, i);
    CHECK(p.b.quiet());
}

TEST_CASE("the move to error flushes sends in order, signalled or not") {
    Pair p;
    for (uint64_t i = 0; i < 6; ++i) {
        REQUIRE(post(p.qa.get(), {.id = i,
                                  .segments = {p.ma.segment(0, 8)},
                                  .flags = unsigned(i % 2) * IBV_SEND_SIGNALED}) == 0);
    }
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_ERR)) == 0);
    for (uint64_t i = 0; i < 6; ++i) check_flushed(p.a.sent(), p.qa, i);
    CHECK(p.a.quiet());
    CHECK(state(p.qb.get()) == IBV_QPS_RTS);
}

TEST_CASE("receives posted in INIT are flushed") {
    Side side;
    const Qp qp = side.make_qp();
    const Region region{side.pd, 64};
    REQUIRE(modify(qp.get(), to_init()) == 0);
    post_receives(qp, region, 3);
    REQUIRE(modify(qp.get(), to(IBV_QPS_ERR)) == 0);
    for (uint64_t i = 0; i < 3; ++i) check_flushed(side.received(), qp, i);
}

TEST_CASE("a send that fails flushes what follows it, and the receives of its queue pair") {
    Pair p{{.path = {.rnr_retries = 0}}};
    post_receives(p.qa, p.ma, 3);
    post_waiting_sends(p, 4);
    CHECK(p.a.sent().status == IBV_WC_RNR_RETRY_EXC_ERR);
    for (uint64_t i = 1; i < 4; ++i) check_flushed(p.a.sent(), p.qa, i);
    for (uint64_t i = 0; i < 3; ++i) check_flushed(p.a.received(), p.qa, i);
    CHECK(p.a.quiet());
}

TEST_CASE("a failure completes the request that caused it though it was not signalled") {
    Pair p{{.path = {.rnr_retries = 0}}};
    REQUIRE(post(p.qa.get(), {.id = 3, .segments = {p.ma.segment(0, 8)}, .flags = 0}) == 0);
    const ibv_wc wc = p.a.sent();
    CHECK(wc.wr_id == 3);
    CHECK(wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_CASE("a receive that fails flushes the receives after it, and the sends of its queue pair") {
    Pair p;
    for (uint64_t i = 0; i < 3; ++i)
        REQUIRE(post(p.qb.get(), {.id = i, .segments = {p.mb.segment(0, 8)}}) == 0);
    post_receives(p.qb, p.mb, 4);
    REQUIRE(post(p.qa.get(), {.segments = {p.ma.segment(0, 9)}}) == 0);
    CHECK(p.b.received().status != IBV_WC_SUCCESS);
    for (uint64_t i = 1; i < 4; ++i) check_flushed(p.b.received(), p.qb, i);
    for (uint64_t i = 0; i < 3; ++i) check_flushed(p.b.sent(), p.qb, i);
}

TEST_CASE("an operation that the peer refuses flushes the receives of the peer") {
    Pair p;
    post_receives(p.qb, p.mb, 3);
    Work w = work<Write>({p.ma.segment(0, 8)}, p.mb);
    w.rkey ^= 1;
    REQUIRE(post(p.qa.get(), w) == 0);
    CHECK(p.a.sent().status == IBV_WC_REM_ACCESS_ERR);
    for (uint64_t i = 0; i < 3; ++i) check_flushed(p.b.received(), p.qb, i);
}

TEST_CASE_TEMPLATE("what is posted to a send queue in error is flushed", Op, Send, Write, Read) {
    Pair p;
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_ERR)) == 0);
    Work w = work<Op>({p.ma.segment(0, 8)}, p.mb);
    for (uint64_t i = 0; i < 3; ++i) {
        w.id = i;
        w.flags = i == 1 ? 0 : IBV_SEND_SIGNALED;
        REQUIRE(post(p.qa.get(), w) == 0);
        check_flushed(p.a.sent(), p.qa, i);
    }
}

TEST_CASE("what is posted to a receive queue in error is flushed") {
    Pair p;
    REQUIRE(modify(p.qb.get(), to(IBV_QPS_ERR)) == 0);
    post_receives(p.qb, p.mb, 3);
    if (differs(Differs::receive_posted_in_error)) {
        CHECK(p.b.quiet());
        REQUIRE(modify(p.qb.get(), to(IBV_QPS_ERR)) == 0);
    }
    for (uint64_t i = 0; i < 3; ++i) check_flushed(p.b.received(), p.qb, i);
}

TEST_CASE("reset forgets what is outstanding") {
    Pair p;
    post_waiting_sends(p, 3);
    post_receives(p.qa, p.ma, 3);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_RESET)) == 0);
    CHECK(p.a.quiet());
    // Nothing of it turns up in the next life.
    p.reconnect();
    move_bytes<Send>(p, 8);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_ERR)) == 0);
    REQUIRE(post(p.qa.get(), {.id = 9, .segments = {p.ma.segment(0, 8)}}) == 0);
    check_flushed(p.a.sent(), p.qa, 9);
    CHECK(p.a.quiet());
}

TEST_CASE("a queue pair can be destroyed with requests outstanding, and ends them") {
    Pair p;
    post_waiting_sends(p, 3);
    post_receives(p.qa, p.ma, 3);
    p.qa.reset();
    CHECK(p.a.quiet());
    post_receives(p.qb, p.mb, 3);
    REQUIRE(modify(p.qb.get(), to(IBV_QPS_ERR)) == 0);
    for (uint64_t i = 0; i < 3; ++i) check_flushed(p.b.received(), p.qb, i);
}

TEST_CASE("one queue pair's failure is none of another's") {
    Pair p;
    const Qp other_a = p.a.make_qp(), other_b = p.b.make_qp();
    connect(other_a.get(), other_b->qp_num);
    connect(other_b.get(), other_a->qp_num);
    post_receives(other_b, p.mb, 1);
    REQUIRE(modify(p.qa.get(), to(IBV_QPS_ERR)) == 0);
    REQUIRE(modify(p.qb.get(), to(IBV_QPS_ERR)) == 0);
    REQUIRE(post(other_a.get(), {.id = 1, .segments = {p.ma.segment(0, 8)}}) == 0);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
    CHECK(p.b.received().status == IBV_WC_SUCCESS);
    CHECK(state(other_a.get()) == IBV_QPS_RTS);
}
