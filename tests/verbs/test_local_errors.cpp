// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Work requests whose own memory may not be used: how they complete, and whom it concerns.

#include "operations.hpp"

#include <functional>

using namespace rig;

namespace {

// Posts the operation on these segments, which has to fail without the peer knowing.
template <class Op>
void check_refused(Pair& p, const ibv_sge& segment, ibv_wc_status status) {
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, 100)});
    REQUIRE(post(p.qa.get(), work<Op>({segment}, p.mb)) == 0);
    const ibv_wc wc = p.a.sent();
    CHECK(wc.status == status);
    CHECK(wc.wr_id == kSendId);
    CHECK(wc.qp_num == p.qa->qp_num);
    await_state(p.qa.get(), IBV_QPS_ERR);
    CHECK(state(p.qb.get()) == IBV_QPS_RTS);
    CHECK(p.b.quiet());
    CHECK(all_zero(p.mb.bytes, 0, p.mb.bytes.size()));
}

template <class Op>
ibv_wc_status unknown_key() {
    if (Op::fetches) return IBV_WC_LOC_PROT_ERR;
    return expected(Differs::unknown_key_of_a_send, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR);
}

} // namespace

TEST_CASE_TEMPLATE("a segment has to lie in its region", Op, Send, Write, Read) {
    const std::function<ibv_sge(const Region&)> segments[] = {
        [](const Region& r) { return r.segment(r.bytes.size() - 4, 5); },
        [](const Region& r) { return r.segment(r.bytes.size(), 1); },
        [](const Region& r) { return r.segment(size_t(-1), 8); },
    };
    for (const auto& segment : segments) {
        Pair p;
        check_refused<Op>(p, segment(p.ma), IBV_WC_LOC_PROT_ERR);
    }
}

TEST_CASE_TEMPLATE("a local key has to be known", Op, Send, Write, Read) {
    Pair p;
    ibv_sge segment = p.ma.segment(0, 8);
    segment.lkey ^= 1;
    check_refused<Op>(p, segment, unknown_key<Op>());
}

TEST_CASE_TEMPLATE("a local key has to be of the queue pair's protection domain", Op, Send, Write,
                   Read) {
    Pair p;
    const Pd other{ibv_alloc_pd(p.a.context.get())};
    const Region region{other, 64};
    check_refused<Op>(p, region.segment(0, 8), unknown_key<Op>());
}

TEST_CASE_TEMPLATE("a local key ends with its region", Op, Send, Write, Read) {
    Pair p;
    const ibv_sge segment = p.ma.segment(0, 8);
    p.ma.mr.reset();
    check_refused<Op>(p, segment, unknown_key<Op>());
}

TEST_CASE_TEMPLATE("what comes back needs memory that may be written", Op, Read, FetchAdd,
                   CompareSwap) {
    Pair p;
    const Region constant{p.a.pd, 64, IBV_ACCESS_REMOTE_READ};
    check_refused<Op>(p, constant.segment(0, 8), IBV_WC_LOC_PROT_ERR);
    CHECK(all_zero(constant.bytes, 0, 64));
}

namespace {

// A message that the receive cannot take fails on both sides.
void check_receive_refused(Pair& p, const ibv_sge& segment, ibv_wc_status receiver,
                           ibv_wc_status sender) {
    REQUIRE(post_receive(p.qb.get(), {.id = kReceiveId, .segments = {segment}}) == 0);
    REQUIRE(post(p.qa.get(), work<Send>({p.ma.segment(0, 10)}, p.mb)) == 0);
    const ibv_wc received = p.b.received(), sent = p.a.sent();
    CHECK(received.status == receiver);
    CHECK(received.wr_id == kReceiveId);
    CHECK(received.qp_num == p.qb->qp_num);
    CHECK(sent.status == sender);
    CHECK(sent.wr_id == kSendId);
    await_state(p.qa.get(), IBV_QPS_ERR);
    await_state(p.qb.get(), IBV_QPS_ERR);
}

ibv_wc_status memory_refused() {
    return expected(Differs::receive_memory_refused, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR);
}

ibv_wc_status too_short() {
    return expected(Differs::receive_too_short, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR);
}
ibv_wc_status too_long() {
    return expected(Differs::receive_too_short, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR);
}

} // namespace

TEST_CASE("a receive has to be as long as its message") {
    Pair p;
    check_receive_refused(p, p.mb.segment(0, 9), too_short(), too_long());
    CHECK(all_zero(p.mb.bytes, 9, p.mb.bytes.size()));
}

TEST_CASE("a receive has to be as long as a message of many packets") {
    Pair p;
    REQUIRE(post_receive(p.qb.get(), {.segments = {p.mb.segment(0, 5000)}}) == 0);
    REQUIRE(post(p.qa.get(), {.segments = {p.ma.segment(0, 5001)}}) == 0);
    CHECK(p.b.received().status == too_short());
    CHECK(p.a.sent().status == too_long());
}

TEST_CASE("a receive without segments takes nothing but empty messages") {
    Pair p;
    REQUIRE(post_receive(p.qb.get(), {.id = 1}) == 0);
    REQUIRE(post_receive(p.qb.get(), {.id = 2}) == 0);
    REQUIRE(post(p.qa.get(), {}) == 0);
    CHECK(p.b.received().status == IBV_WC_SUCCESS);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
    REQUIRE(post(p.qa.get(), {.segments = {p.ma.segment(0, 1)}}) == 0);
    CHECK(p.b.received().status == too_short());
    CHECK(p.a.sent().status == too_long());
}

TEST_CASE("the local key of a receive has to be known") {
    Pair p;
    ibv_sge segment = p.mb.segment(0, 100);
    segment.lkey ^= 1;
    check_receive_refused(p, segment, memory_refused(), IBV_WC_REM_OP_ERR);
}

TEST_CASE("the local key of a receive has to be of the queue pair's protection domain") {
    Pair p;
    const Pd other{ibv_alloc_pd(p.b.context.get())};
    const Region region{other, 64};
    check_receive_refused(p, region.segment(0, 64), memory_refused(), IBV_WC_REM_OP_ERR);
    CHECK(all_zero(region.bytes, 0, 64));
}

TEST_CASE("the local key of a receive ends with its region, though it was posted before") {
    Pair p;
    const ibv_sge segment = p.mb.segment(0, 100);
    REQUIRE(post_receive(p.qb.get(), {.segments = {segment}}) == 0);
    p.mb.mr.reset();
    REQUIRE(post(p.qa.get(), {.segments = {p.ma.segment(0, 10)}}) == 0);
    CHECK(p.b.received().status == memory_refused());
    CHECK(p.a.sent().status == IBV_WC_REM_OP_ERR);
}

TEST_CASE("a receive needs memory that may be written") {
    Pair p;
    const Region constant{p.b.pd, 64, IBV_ACCESS_REMOTE_READ};
    check_receive_refused(p, constant.segment(0, 64), memory_refused(), IBV_WC_REM_OP_ERR);
    CHECK(all_zero(constant.bytes, 0, 64));
}

TEST_CASE("a receive has to lie in its region") {
    Pair p;
    check_receive_refused(p, p.mb.segment(p.mb.bytes.size() - 9, 10), memory_refused(),
                          IBV_WC_REM_OP_ERR);
}
