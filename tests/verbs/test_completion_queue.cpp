// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Completion queues: what they hold, in which order, and what becomes of too much.

#include "events.hpp"
#include "operations.hpp"

using namespace rig;

TEST_CASE("an empty completion queue gives nothing") {
    const Side side;
    ibv_wc wc[16];
    CHECK(ibv_poll_cq(side.sends.get(), 16, wc) == 0);
    CHECK(ibv_poll_cq(side.sends.get(), 0, wc) == 0);
}

TEST_CASE("a completion queue gives as many completions as are asked for") {
    Pair p;
    for (uint64_t i = 0; i < 5; ++i) REQUIRE(post_receive(p.qb.get(), {.id = i}) == 0);
    for (uint64_t i = 0; i < 5; ++i) REQUIRE(post(p.qa.get(), {.id = i}) == 0);
    for (uint64_t i = 0; i < 5; ++i) CHECK(p.a.sent().wr_id == i);
    CHECK(p.b.received().wr_id == 0);
    ibv_wc wc[16];
    CHECK(ibv_poll_cq(p.b.receives.get(), 3, wc) == 3);
    for (uint64_t i = 0; i < 3; ++i) CHECK(wc[i].wr_id == i + 1);
    CHECK(ibv_poll_cq(p.b.receives.get(), 16, wc) == 1);
    CHECK(wc[0].wr_id == 4);
}

TEST_CASE("queue pairs that share completion queues keep their own order") {
    Pair p;
    const Qp qa = p.a.make_qp(), qb = p.b.make_qp();
    connect(qa.get(), qb->qp_num);
    connect(qb.get(), qa->qp_num);
    for (uint64_t i = 0; i < 10; ++i) {
        for (ibv_qp* qp : {p.qb.get(), qb.get()}) REQUIRE(post_receive(qp, {.id = i}) == 0);
        for (ibv_qp* qp : {p.qa.get(), qa.get()}) REQUIRE(post(qp, {.id = i}) == 0);
    }
    uint64_t sent[2]{}, received[2]{};
    for (int i = 0; i < 20; ++i) {
        const ibv_wc s = p.a.sent(), r = p.b.received();
        CHECK(s.wr_id == sent[s.qp_num == qa->qp_num]++);
        CHECK(r.wr_id == received[r.qp_num == qb->qp_num]++);
    }
    CHECK(sent[0] == 10);
    CHECK(received[0] == 10);
}

TEST_CASE("one completion queue can serve for all") {
    const Side side;
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = side.sends.get();
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 4,
                .max_recv_wr = 4,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
    const Qp qp{ibv_create_qp(side.pd.get(), &init)};
    REQUIRE(qp);
    connect(qp.get(), qp->qp_num);
    REQUIRE(post_receive(qp.get(), {.id = kReceiveId}) == 0);
    REQUIRE(post(qp.get(), {.id = kSendId}) == 0);
    const ibv_wc first = side.sent(), second = side.sent();
    CHECK(first.wr_id + second.wr_id == kSendId + kReceiveId);
    CHECK(side.quiet());
}

TEST_CASE("a completion queue knows its maker") {
    const Side side;
    CHECK(side.sends->cq_context == &side);
    CHECK(side.sends->context == side.context.get());
    CHECK(side.sends->channel == side.channel.get());
    CHECK(side.sends->cqe >= 256);
}

namespace {

// A receiver with few completions.
struct Narrow {
    Narrow()
        : b{6} {
        connect(qa.get(), qb->qp_num, {.timeout = 12, .retries = 1});
        connect(qb.get(), qa->qp_num);
    }

    void send(int count) {
        for (int i = 0; i < count; ++i) {
            REQUIRE(post_receive(qb.get(), {.id = posted++}) == 0);
            REQUIRE(post(qa.get(), {}) == 0);
        }
    }
    void check_received(int count) {
        for (int i = 0; i < count; ++i) {
            const ibv_wc wc = b.received();
            CHECK(wc.status == IBV_WC_SUCCESS);
            CHECK(wc.wr_id == received++);
        }
    }

    Side a, b;
    Qp qa{a.make_qp()}, qb{b.make_qp()};
    int room{b.receives->cqe};
    uint64_t posted{0}, received{0};
};

} // namespace

TEST_CASE("a completion queue holds as many completions as it says, again and again") {
    Narrow n;
    CHECK(n.room >= 6);
    REQUIRE(n.room < 32);
    for (int round = 0; round < 3; ++round) {
        n.send(n.room);
        for (int i = 0; i < n.room; ++i) CHECK(n.a.sent().status == IBV_WC_SUCCESS);
        n.check_received(n.room);
        CHECK(no_event(n.b.context));
    }
}

TEST_CASE("a completion queue that overruns says so, and its queue pair fails") {
    Narrow n;
    REQUIRE(n.room < 32);
    n.send(n.room + 1);
    for (int i = 0; i < n.room; ++i) CHECK(n.a.sent().status == IBV_WC_SUCCESS);
    CHECK(n.a.sent().status != IBV_WC_SUCCESS);
    const AsyncEvent event{n.b.context};
    CHECK(event->event_type == IBV_EVENT_CQ_ERR);
    CHECK(event->element.cq == n.b.receives.get());
    await_state(n.qb.get(), IBV_QPS_ERR);
}

TEST_CASE("a completion queue is resized, with its completions") {
    Narrow n;
    n.send(3);
    for (int i = 0; i < 3; ++i) CHECK(n.a.sent().status == IBV_WC_SUCCESS);
    REQUIRE(ibv_resize_cq(n.b.receives.get(), 4 * n.room) == 0);
    CHECK(n.b.receives->cqe >= 4 * n.room);
    n.send(2 * n.room);
    for (int i = 0; i < 2 * n.room; ++i) CHECK(n.a.sent().status == IBV_WC_SUCCESS);
    n.check_received(3 + 2 * n.room);
    CHECK(no_event(n.b.context));
}

TEST_CASE("a completion queue cannot be made smaller than what it holds") {
    Narrow n;
    n.send(5);
    for (int i = 0; i < 5; ++i) CHECK(n.a.sent().status == IBV_WC_SUCCESS);
    CHECK(ibv_resize_cq(n.b.receives.get(), 2) == EINVAL);
    n.check_received(5);
}
