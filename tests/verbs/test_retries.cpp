// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Peers that are not ready, not there, or there late.

#include "operations.hpp"

#include <chrono>

using namespace rig;

namespace {

// 4.2 ms, twice.
constexpr Path kImpatient{.timeout = 10, .retries = 1, .rnr_retries = 0};

} // namespace

TEST_CASE_TEMPLATE("without a receive, a request that allows no retry fails", Op, Send, SendWithImm,
                   WriteWithImm) {
    Pair p{{.path = {.rnr_retries = 0}}};
    REQUIRE(post(p.qa.get(), work<Op>({p.ma.segment(0, 8)}, p.mb)) == 0);
    const ibv_wc wc = p.a.sent();
    CHECK(wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK(wc.wr_id == kSendId);
    await_state(p.qa.get(), IBV_QPS_ERR);
    CHECK(state(p.qb.get()) == IBV_QPS_RTS);
}

TEST_CASE("a sender asks again as often as it was told, and waits in between") {
    Pair p{{.path = {.rnr_retries = 3, .rnr_timer = 20}}}; // 10.24 ms
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(post(p.qa.get(), work<Send>({p.ma.segment(0, 8)}, p.mb)) == 0);
    CHECK(p.a.sent().status == IBV_WC_RNR_RETRY_EXC_ERR);
    // A device may count in ticks of a few milliseconds, and the first is cut short.
    CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds{3 * 6});
}

TEST_CASE("a send waits for a receive, and with it all that follows, in order") {
    Pair p;
    for (uint64_t i = 0; i < 5; ++i) {
        const char byte = char('a' + i);
        REQUIRE(post(p.qa.get(), {.id = i,
                                  .segments = {plain(&byte, 1)},
                                  .flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}) == 0);
    }
    CHECK(p.a.quiet());
    for (uint64_t i = 0; i < 5; ++i) {
        REQUIRE(post_receive(p.qb.get(), {.id = i, .segments = {p.mb.segment(i, 1)}}) == 0);
        CHECK(p.b.received().wr_id == i);
        CHECK(p.a.sent().wr_id == i);
        CHECK(p.mb.bytes[i] == char('a' + i));
    }
}

TEST_CASE("a long message waits for its receive, and comes whole") {
    Pair p;
    p.ma.fill(1);
    REQUIRE(post(p.qa.get(), work<Send>({p.ma.segment(0, 40000)}, p.mb)) == 0);
    CHECK(p.a.quiet());
    post_receive_for<Send>(p.qb.get(), {p.mb.segment(0, 65536)});
    check_received<Send>(p.b.received(), p.qb, 40000);
    check_sent<Send>(p.a.sent(), p.qa, 40000);
    CHECK(std::equal(p.mb.bytes.begin(), p.mb.bytes.begin() + 40000, p.ma.bytes.begin()));
}

namespace {

// Who does not answer.
struct NoQueuePair {
    static void prepare(Qp& qp) { qp.reset(); }
};
struct PeerInReset {
    static void prepare(Qp&) {}
};
struct PeerInInit {
    static void prepare(Qp& qp) { REQUIRE(modify(qp.get(), to_init()) == 0); }
};
struct PeerInError {
    static void prepare(Qp& qp) {
        connect(qp.get(), qp->qp_num);
        REQUIRE(modify(qp.get(), to(IBV_QPS_ERR)) == 0);
    }
};
struct PeerBackInReset {
    static void prepare(Qp& qp) {
        connect(qp.get(), qp->qp_num);
        REQUIRE(modify(qp.get(), to(IBV_QPS_RESET)) == 0);
    }
};

} // namespace

TEST_CASE_TEMPLATE("a peer that does not answer", Peer, NoQueuePair, PeerInReset, PeerInInit,
                   PeerInError, PeerBackInReset) {
    Side a, b;
    const Qp qa = a.make_qp();
    Qp qb = b.make_qp();
    Region mb{b.pd, 64};
    connect(qa.get(), qb->qp_num, kImpatient);
    Peer::prepare(qb);
    Work w = work<Write>({plain("hello", 5)}, mb);
    w.flags |= IBV_SEND_INLINE;
    REQUIRE(post(qa.get(), w) == 0);
    const ibv_wc wc = a.sent();
    CHECK(wc.status == IBV_WC_RETRY_EXC_ERR);
    CHECK(wc.wr_id == kSendId);
    CHECK(wc.qp_num == qa->qp_num);
    await_state(qa.get(), IBV_QPS_ERR);
    CHECK(all_zero(mb.bytes, 0, 64));
}

TEST_CASE("a peer that goes away between two requests") {
    Pair p{{.path = kImpatient}};
    REQUIRE(post(p.qa.get(), work<Write>({p.ma.segment(0, 8)}, p.mb)) == 0);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
    p.qb.reset();
    REQUIRE(post(p.qa.get(), work<Read>({p.ma.segment(0, 8)}, p.mb)) == 0);
    CHECK(p.a.sent().status == IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("a peer that is ready late gets what was sent before") {
    const Path patient{.timeout = 15, .retries = 7}; // 0.13 s
    Side a, b;
    const Qp qa = a.make_qp(), qb = b.make_qp();
    const Region mb{b.pd, 64};
    connect(qa.get(), qb->qp_num, patient);
    REQUIRE(modify(qb.get(), to_init()) == 0);
    REQUIRE(post_receive(qb.get(), {.id = kReceiveId, .segments = {mb.segment(0, 64)}}) == 0);
    REQUIRE(post(qa.get(), {.id = kSendId,
                            .segments = {plain("hello", 5)},
                            .flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}) == 0);
    REQUIRE(modify(qb.get(), to_rtr(qa->qp_num)) == 0);
    check_received<Send>(b.received(), qb, 5);
    check_sent<Send>(a.sent(), qa, 5);
}
