// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Shared receive queues: who gets which receive, and what becomes of the others.

#include "events.hpp"
#include "operations.hpp"

using namespace rig;

namespace {

// Connections of a to one shared receive queue at b.
struct Shared {
    explicit Shared(size_t connections = 1, uint32_t receives = 16)
        : srq{b.make_srq(receives)}
        , mb{b.pd, 4096} {
        for (size_t i = 0; i < connections; ++i) {
            qa.push_back(a.make_qp());
            qb.push_back(b.make_qp({.srq = srq.get()}));
            connect(qa[i].get(), qb[i]->qp_num);
            connect(qb[i].get(), qa[i]->qp_num);
        }
    }

    void post_receives(uint64_t first, uint64_t count) {
        for (uint64_t i = first; i < first + count; ++i)
            REQUIRE(post_receive(srq.get(), {.id = i, .segments = {mb.segment(i % 512 * 8, 8)}}) ==
                    0);
    }

    // Sends a number, and expects it in this receive.
    void check_send(size_t connection, uint64_t receive) {
        REQUIRE(post(qa[connection].get(), {.id = kSendId,
                                            .segments = {plain(&receive, 8)},
                                            .flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}) == 0);
        const ibv_wc wc = b.received();
        CHECK(wc.status == IBV_WC_SUCCESS);
        CHECK(wc.wr_id == receive);
        CHECK(wc.qp_num == qb[connection]->qp_num);
        CHECK(reinterpret_cast<uint64_t*>(mb.bytes.data())[receive % 512] == receive);
        check_sent<Send>(a.sent(), qa[connection], 8);
    }

    Side a, b;
    Srq srq;
    Region mb;
    std::vector<Qp> qa, qb;
};

ibv_srq_attr query(const Srq& srq) {
    ibv_srq_attr attr{};
    REQUIRE(ibv_query_srq(srq.get(), &attr) == 0);
    return attr;
}

} // namespace

TEST_CASE("a shared receive queue gives its receives in the order in which they were posted") {
    Shared s;
    s.post_receives(0, 5);
    for (uint64_t i = 0; i < 5; ++i) s.check_send(0, i);
}

TEST_CASE("several queue pairs take their receives from one queue") {
    Shared s{3};
    s.post_receives(0, 9);
    for (uint64_t i = 0; i < 9; ++i) s.check_send(i * i % 3, i);
}

TEST_CASE("a write with immediate data takes a receive from a shared queue") {
    Shared s;
    s.post_receives(0, 1);
    Work w = work<WriteWithImm>({plain("hello", 5)}, s.mb, 100);
    w.flags |= IBV_SEND_INLINE;
    REQUIRE(post(s.qa[0].get(), w) == 0);
    const ibv_wc wc = s.b.received();
    CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK(wc.wr_id == 0);
    CHECK(wc.byte_len == 5);
    CHECK(all_zero(s.mb.bytes, 0, 100));
}

TEST_CASE("an empty shared receive queue lets its senders wait") {
    Shared s{2};
    REQUIRE(post(s.qa[0].get(), {.id = 1}) == 0);
    CHECK(s.a.quiet());
    s.post_receives(7, 1);
    CHECK(s.b.received().wr_id == 7);
    CHECK(s.a.sent().wr_id == 1);
}

TEST_CASE(
    "a shared receive queue takes as many receives as it says, and again when they are used") {
    Shared s{1, 5};
    const uint32_t room = query(s.srq).max_wr;
    CHECK(room >= 5);
    REQUIRE(room < 512);
    uint64_t posted = 0, used = 0;
    for (int round = 0; round < 3; ++round) {
        s.post_receives(posted, room - (posted - used));
        posted = used + room;
        const Posted refused = post_receive_list(s.srq.get(), {{.id = 999}});
        CHECK(refused.error == ENOMEM);
        CHECK(refused.bad == 0);
        for (uint32_t i = 0; i < 3; ++i) s.check_send(0, used++);
    }
}

TEST_CASE("of a list of shared receives, what fits is posted") {
    Shared s{1, 4};
    const uint32_t room = query(s.srq).max_wr;
    s.post_receives(0, room - 1);
    const Posted posted = post_receive_list(
        s.srq.get(), {{.id = room - 1, .segments = {s.mb.segment((room - 1) * 8, 8)}}, {}, {}});
    CHECK(posted.error == ENOMEM);
    CHECK(posted.bad == 1);
    for (uint64_t i = 0; i < room; ++i) s.check_send(0, i);
}

TEST_CASE("a shared receive has no more segments than the queue was made for") {
    const Side side;
    const Srq srq = side.make_srq(4, 2);
    const Region region{side.pd, 64};
    const uint32_t room = query(srq).max_sge;
    CHECK(room >= 2);
    Receive receive{.segments = std::vector(room, region.segment(0, 1))};
    CHECK(post_receive(srq.get(), receive) == 0);
    receive.segments.push_back(region.segment(0, 1));
    CHECK(post_receive(srq.get(), receive) == EINVAL);
}

TEST_CASE("a queue pair in error leaves the shared receives to the others") {
    Shared s{2};
    s.post_receives(0, 3);
    REQUIRE(modify(s.qb[0].get(), to(IBV_QPS_ERR)) == 0);
    for (uint64_t i = 0; i < 3; ++i) s.check_send(1, i);
    CHECK(s.b.quiet());
}

TEST_CASE("a queue pair that is destroyed leaves the shared receives to the others") {
    Shared s{2};
    s.post_receives(0, 3);
    s.check_send(0, 0);
    s.qb[0].reset();
    for (uint64_t i = 1; i < 3; ++i) s.check_send(1, i);
    CHECK(s.b.quiet());
}

TEST_CASE("a shared receive queue can be destroyed with its receives") {
    Shared s;
    s.post_receives(0, 3);
    s.qb.clear();
    s.srq.reset();
    CHECK(s.b.quiet());
}

TEST_CASE("a queue pair with a shared receive queue tells when it takes no more from it") {
    Shared s;
    s.post_receives(0, 3);
    REQUIRE(modify(s.qb[0].get(), to(IBV_QPS_ERR)) == 0);
    if (differs(Differs::last_receive_event)) {
        CHECK(no_event(s.b.context));
        return;
    }
    const AsyncEvent event{s.b.context};
    CHECK(event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED);
    CHECK(event->element.qp == s.qb[0].get());
    CHECK(no_event(s.b.context));
    CHECK(s.b.quiet());
}

TEST_CASE("a message too long for its shared receive fails on both sides") {
    Shared s;
    s.post_receives(0, 2);
    const Region ma{s.a.pd, 64};
    REQUIRE(post(s.qa[0].get(), {.id = 1, .segments = {ma.segment(0, 9)}}) == 0);
    const ibv_wc wc = s.b.received();
    CHECK(wc.wr_id == 0);
    CHECK(wc.status ==
          expected(Differs::receive_too_short, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR));
    CHECK(s.a.sent().status ==
          expected(Differs::receive_too_short, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR));
    await_state(s.qb[0].get(), IBV_QPS_ERR);
    CHECK(s.b.quiet());
}
