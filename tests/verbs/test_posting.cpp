// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// In which states requests can be posted, how many, and which are refused at once.

#include "operations.hpp"

using namespace rig;

namespace {

template <ibv_qp_state State>
struct In {
    // A queue pair that is its own peer.
    static Qp bring(const Side& side) {
        Qp qp = side.make_qp();
        if (State >= IBV_QPS_INIT) REQUIRE(modify(qp.get(), to_init()) == 0);
        if (State >= IBV_QPS_RTR) REQUIRE(modify(qp.get(), to_rtr(qp->qp_num)) == 0);
        return qp;
    }
};

} // namespace

TEST_CASE_TEMPLATE("nothing can be sent before RTS", T, In<IBV_QPS_RESET>, In<IBV_QPS_INIT>,
                   In<IBV_QPS_RTR>) {
    const Side side;
    const Qp qp = T::bring(side);
    const Work w{.segments = {plain("", 1)}, .flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED};
    const Posted posted = post_list(qp.get(), {w, w});
    CHECK(posted.error == EINVAL);
    CHECK(posted.bad == expected(Differs::refused_request_unnamed, ptrdiff_t{0}, Posted::kNone));
    CHECK(side.quiet());
}

TEST_CASE("nothing can be received in RESET") {
    const Side side;
    const Qp qp = side.make_qp();
    CHECK(post_receive(qp.get(), {}) == EINVAL);
}

TEST_CASE_TEMPLATE("a receive can be posted before there is a peer", T, In<IBV_QPS_INIT>,
                   In<IBV_QPS_RTR>) {
    const Side side;
    const Qp qp = T::bring(side);
    CHECK(post_receive(qp.get(), {.id = kReceiveId}) == 0);
    if (state(qp.get()) == IBV_QPS_INIT) REQUIRE(modify(qp.get(), to_rtr(qp->qp_num)) == 0);
    REQUIRE(modify(qp.get(), to_rts()) == 0);
    REQUIRE(post(qp.get(), {}) == 0);
    CHECK(side.received().wr_id == kReceiveId);
}

TEST_CASE("a queue pair in RTR receives") {
    Side a, b;
    const Qp qa = a.make_qp(), qb = b.make_qp();
    connect(qa.get(), qb->qp_num);
    REQUIRE(modify(qb.get(), to_init()) == 0);
    REQUIRE(modify(qb.get(), to_rtr(qa->qp_num)) == 0);
    REQUIRE(post_receive(qb.get(), {.id = kReceiveId}) == 0);
    REQUIRE(post(qa.get(), {.id = kSendId}) == 0);
    check_received<Send>(b.received(), qb, 0);
    check_sent<Send>(a.sent(), qa, 0);
    CHECK(state(qb.get()) == IBV_QPS_RTR);
}

TEST_CASE("a send queue takes as many requests as it says, and again when they are done") {
    Pair p{{.qp = {.cap = {.max_send_wr = 5,
                           .max_recv_wr = 256,
                           .max_send_sge = 1,
                           .max_recv_sge = 1,
                           .max_inline_data = 0}}}};
    const uint32_t room = query(p.qa.get()).cap.max_send_wr;
    CHECK(room >= 5);
    REQUIRE(room < 256);
    // Without receives at the peer, none of them completes.
    for (int round = 0; round < 3; ++round) {
        Posted posted{};
        uint64_t count = 0;
        while (!(posted = post_list(p.qa.get(), {{.id = count}})).error && count <= 256) ++count;
        CHECK(posted.error == ENOMEM);
        CHECK(posted.bad == 0);
        CHECK(count == room);
        for (uint64_t i = 0; i < count; ++i) REQUIRE(post_receive(p.qb.get(), {}) == 0);
        for (uint64_t i = 0; i < count; ++i) {
            CHECK(p.a.sent().wr_id == i);
            CHECK(p.b.received().status == IBV_WC_SUCCESS);
        }
    }
}

TEST_CASE("a receive queue takes as many requests as it says, and again when they are done") {
    Pair p{{.qp = {.cap = {.max_send_wr = 64,
                           .max_recv_wr = 5,
                           .max_send_sge = 1,
                           .max_recv_sge = 1,
                           .max_inline_data = 0}}}};
    const uint32_t room = query(p.qb.get()).cap.max_recv_wr;
    CHECK(room >= 5);
    REQUIRE(room < 64);
    for (int round = 0; round < 3; ++round) {
        Posted posted{};
        uint64_t count = 0;
        while (!(posted = post_receive_list(p.qb.get(), {{.id = count}})).error && count <= 64)
            ++count;
        CHECK(posted.error == ENOMEM);
        CHECK(posted.bad == 0);
        CHECK(count == room);
        for (uint64_t i = 0; i < count; ++i) {
            REQUIRE(post(p.qa.get(), {}) == 0);
            CHECK(p.b.received().wr_id == i);
            CHECK(p.a.sent().status == IBV_WC_SUCCESS);
        }
    }
}

TEST_CASE("of a list, what comes before the bad request is posted") {
    Pair p;
    const auto room = int(query(p.qa.get()).cap.max_send_sge);
    Work bad{.id = 2};
    for (int i = 0; i <= room; ++i) bad.segments.push_back(p.ma.segment(0, 1));
    for (int i = 0; i < 3; ++i) REQUIRE(post_receive(p.qb.get(), {}) == 0);
    const Posted posted = post_list(p.qa.get(), {{.id = 0}, {.id = 1}, bad, {.id = 3}});
    CHECK(posted.error == EINVAL);
    CHECK(posted.bad == 2);
    CHECK(p.a.sent().wr_id == 0);
    CHECK(p.a.sent().wr_id == 1);
    // The queue pair is none the worse.
    REQUIRE(post(p.qa.get(), {.id = 4}) == 0);
    CHECK(p.a.sent().wr_id == 4);
}

TEST_CASE("of a list of receives, what comes before the bad one is posted") {
    Pair p;
    const auto room = int(query(p.qb.get()).cap.max_recv_sge);
    Receive bad{.id = 1};
    for (int i = 0; i <= room; ++i) bad.segments.push_back(p.mb.segment(0, 1));
    const Posted posted = post_receive_list(p.qb.get(), {{.id = 0}, bad, {.id = 2}});
    CHECK(posted.error == EINVAL);
    CHECK(posted.bad == 1);
    REQUIRE(post_receive(p.qb.get(), {.id = 3}) == 0);
    for (const uint64_t id : {0, 3}) {
        REQUIRE(post(p.qa.get(), {}) == 0);
        CHECK(p.b.received().wr_id == id);
    }
}

TEST_CASE("more inline data than the queue pair was made for is refused") {
    Pair p;
    const uint32_t room = query(p.qa.get()).cap.max_inline_data;
    const std::vector<char> data(room + 1);
    Work w{.segments = {plain(data.data(), room + 1)},
           .flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED};
    CHECK(post(p.qa.get(), w) == EINVAL);
    w.segments = {plain(data.data(), room / 2), plain(data.data(), room - room / 2 + 1)};
    CHECK(post(p.qa.get(), w) == EINVAL);
    w.segments = {plain(data.data(), room)};
    REQUIRE(post_receive(p.qb.get(), {.segments = {p.mb.segment(0, room)}}) == 0);
    CHECK(post(p.qa.get(), w) == 0);
    CHECK(p.b.received().byte_len == room);
}

TEST_CASE("a queue pair with a shared receive queue takes no receives of its own") {
    const Side side;
    const Srq srq = side.make_srq();
    const Qp qp = side.make_qp({.srq = srq.get()});
    connect(qp.get(), qp->qp_num);
    CHECK(post_receive(qp.get(), {}) == EINVAL);
}
