// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the peer's keys, bounds and access rights keep out.

#include "operations.hpp"

using namespace rig;

namespace {

// The peer refuses, and both queue pairs are done with each other.
template <class Op>
void check_refused(Pair& p, Work w, const std::vector<char>& untouched, ibv_wc_status status) {
    post_receive_for<Op>(p.qb.get(), {});
    p.ma.fill(1);
    REQUIRE(post(p.qa.get(), w) == 0);
    const ibv_wc wc = p.a.sent();
    CHECK(wc.status == status);
    CHECK(wc.wr_id == kSendId);
    CHECK(wc.qp_num == p.qa->qp_num);
    await_state(p.qa.get(), IBV_QPS_ERR);
    await_state(p.qb.get(), IBV_QPS_ERR);
    if (Op::receives) CHECK(p.b.received().status != IBV_WC_SUCCESS);
    CHECK(all_zero(untouched, 0, untouched.size()));
}

template <class Op>
void check_refused(Pair& p, Work w) {
    check_refused<Op>(p, std::move(w), p.mb.bytes, IBV_WC_REM_ACCESS_ERR);
}

} // namespace

TEST_CASE_TEMPLATE("nothing beyond the end of a region is reached", Op, Write, WriteWithImm, Read,
                   FetchAdd, CompareSwap) {
    Pair p;
    check_refused<Op>(p, work<Op>({p.ma.segment(0, 8)}, p.mb, p.mb.bytes.size()));
}

TEST_CASE_TEMPLATE("nothing before the start of a region is reached", Op, Write, Read, FetchAdd) {
    Pair p;
    check_refused<Op>(p, work<Op>({p.ma.segment(0, 8)}, p.mb, size_t(-8)));
}

TEST_CASE_TEMPLATE("what begins in a region has to end there", Op, Write, WriteWithImm, Read) {
    for (const size_t size : {5, 5000}) {
        CAPTURE(size);
        Pair p;
        check_refused<Op>(p, work<Op>({p.ma.segment(0, size)}, p.mb, p.mb.bytes.size() - size + 1));
    }
}

TEST_CASE_TEMPLATE("a remote key has to be known", Op, Write, WriteWithImm, Read, FetchAdd,
                   CompareSwap) {
    Pair p;
    Work w = work<Op>({p.ma.segment(0, 8)}, p.mb);
    w.rkey ^= 1;
    check_refused<Op>(p, w);
}

TEST_CASE_TEMPLATE("a remote key has to be of the peer's protection domain", Op, Write, Read,
                   FetchAdd) {
    Pair p;
    const Pd other{ibv_alloc_pd(p.b.context.get())};
    const Region region{other, 64};
    check_refused<Op>(p, work<Op>({p.ma.segment(0, 8)}, region), region.bytes,
                      IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE_TEMPLATE("a remote key ends with its region", Op, Write, Read, FetchAdd) {
    Pair p;
    const Work w = work<Op>({p.ma.segment(0, 8)}, p.mb);
    p.mb.mr.reset();
    check_refused<Op>(p, w);
}

TEST_CASE_TEMPLATE("a region gives no right that it was not registered with", Op, Write,
                   WriteWithImm, Read, FetchAdd, CompareSwap) {
    Pair p;
    const Region region{p.b.pd, 64, kAllAccess & ~Op::access};
    check_refused<Op>(p, work<Op>({p.ma.segment(0, 8)}, region), region.bytes,
                      IBV_WC_REM_ACCESS_ERR);
}

// "The operation is not supported by this receive queue" (11.6.2), whatever the region allows.
TEST_CASE_TEMPLATE("a queue pair refuses the operations it was not opened for", Op, Write,
                   WriteWithImm, Read, FetchAdd, CompareSwap) {
    Pair p{{.path = {.access = kRemoteAccess & ~Op::access}}};
    check_refused<Op>(p, work<Op>({p.ma.segment(0, 8)}, p.mb), p.mb.bytes, IBV_WC_REM_INV_REQ_ERR);
}

TEST_CASE("a region for local use alone has no remote key to reach it by") {
    Pair p;
    const Region region{p.b.pd, 64, IBV_ACCESS_LOCAL_WRITE};
    Work w = work<Write>({p.ma.segment(0, 8)}, region);
    w.rkey = region.mr->lkey;
    check_refused<Write>(p, w, region.bytes, IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("the rights of a queue pair can change while it is connected") {
    Pair p;
    Move m = to(IBV_QPS_RTS);
    m.mask |= IBV_QP_ACCESS_FLAGS;
    m.attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
    REQUIRE(modify(p.qb.get(), m) == 0);
    REQUIRE(post(p.qa.get(), work<Read>({p.ma.segment(0, 8)}, p.mb)) == 0);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
    check_refused<Write>(p, work<Write>({p.ma.segment(0, 8)}, p.mb), p.mb.bytes,
                         IBV_WC_REM_INV_REQ_ERR);
}

TEST_CASE("what comes before the refused request is done, what comes after is flushed") {
    Pair p;
    p.ma.fill(1);
    std::vector<Work> list(5, work<Write>({p.ma.segment(0, 8)}, p.mb));
    for (size_t i = 0; i < list.size(); ++i) {
        list[i].id = i;
        list[i].remote += i * 8;
    }
    list[2].rkey ^= 1;
    REQUIRE(post_list(p.qa.get(), list).error == 0);
    constexpr ibv_wc_status statuses[] = {IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR,
                                          IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR};
    for (size_t i = 0; i < list.size(); ++i) {
        const ibv_wc wc = p.a.sent();
        CHECK(wc.wr_id == i);
        CHECK(wc.status == statuses[i]);
    }
    CHECK_FALSE(all_zero(p.mb.bytes, 8, 16));
    CHECK(all_zero(p.mb.bytes, 16, p.mb.bytes.size()));
}

TEST_CASE("queue pairs that have failed can be connected again") {
    Pair p;
    Work w = work<Write>({p.ma.segment(0, 8)}, p.mb);
    w.rkey ^= 1;
    check_refused<Write>(p, w);
    p.reconnect();
    p.ma.bytes.assign(p.ma.bytes.size(), 0);
    move_bytes<Send>(p, 5000);
}
