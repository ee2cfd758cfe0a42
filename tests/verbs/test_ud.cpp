// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Datagrams that arrive: with what before them, and in which states.

#include "datagrams.hpp"

using namespace rig;

TEST_CASE("a datagram arrives behind forty bytes for its address") {
    Datagrams d;
    d.post_receive_at_b();
    d.send(d.datagram(100));
    d.check_received(100);
    CHECK(d.a.quiet());
}

TEST_CASE("a datagram can be empty") {
    Datagrams d;
    d.post_receive_at_b();
    d.send(d.datagram(0));
    d.check_received(0);
}

TEST_CASE("a datagram can be as long as the port's MTU") {
    Datagrams d;
    d.post_receive_at_b();
    const size_t mtu = size_t{128} << device().port.active_mtu;
    d.send(d.datagram(mtu));
    d.check_received(mtu);
}

TEST_CASE("a datagram carries immediate data") {
    Datagrams d;
    d.post_receive_at_b();
    Work w = d.datagram(100);
    w.opcode = IBV_WR_SEND_WITH_IMM;
    w.imm = kImm;
    d.send(w);
    const ibv_wc wc = d.b.received();
    CHECK(wc.opcode == IBV_WC_RECV);
    CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0);
    CHECK(wc.imm_data == kImm);
    CHECK(wc.byte_len == kGrh + 100);
}

TEST_CASE("a datagram can be inline") {
    Datagrams d;
    d.post_receive_at_b();
    Work w = d.datagram(0);
    w.segments = {plain("hello", 5)};
    w.flags |= IBV_SEND_INLINE;
    d.send(w);
    CHECK(d.b.received().byte_len == kGrh + 5);
    CHECK(std::memcmp(d.mb.bytes.data() + kGrh, "hello", 5) == 0);
}

TEST_CASE("a datagram is gathered and scattered, its forty bytes apart from it") {
    Datagrams d;
    REQUIRE(post_receive(d.qb.get(), {.segments = {d.mb.segment(0, kGrh), d.mb.segment(1000, 7),
                                                   d.mb.segment(2000, 100)}}) == 0);
    Work w = d.datagram(0);
    w.segments = {d.ma.segment(3, 3), d.ma.segment(50, 20)};
    d.send(w);
    CHECK(d.b.received().byte_len == kGrh + 23);
    CHECK(std::memcmp(d.mb.bytes.data() + 1000, d.ma.bytes.data() + 3, 3) == 0);
    CHECK(std::memcmp(d.mb.bytes.data() + 1003, d.ma.bytes.data() + 50, 4) == 0);
    CHECK(std::memcmp(d.mb.bytes.data() + 2000, d.ma.bytes.data() + 54, 16) == 0);
}

TEST_CASE("one queue pair hears from many") {
    Datagrams d;
    const Qp other = d.a.make_qp(kDatagrams);
    ready_for_datagrams(other.get());
    for (ibv_qp* from : {d.qa.get(), other.get()}) {
        d.post_receive_at_b();
        REQUIRE(post(from, d.datagram(10)) == 0);
        CHECK(d.b.received().src_qp == from->qp_num);
    }
}

TEST_CASE("a datagram can be answered") {
    Datagrams d;
    d.post_receive_at_b();
    d.send(d.datagram(10));
    ibv_wc wc = d.b.received();
    auto* grh = reinterpret_cast<ibv_grh*>(d.mb.bytes.data());
    const Ah back{ibv_create_ah_from_wc(d.b.pd.get(), &wc, grh, kPort)};
    REQUIRE(back);
    REQUIRE(post_receive(d.qa.get(), {.id = 2, .segments = {d.ma.segment(0, 100)}}) == 0);
    REQUIRE(post(d.qb.get(), {.segments = {d.mb.segment(kGrh, 10)},
                              .ah = back.get(),
                              .qpn = wc.src_qp,
                              .qkey = kQkey}) == 0);
    const ibv_wc answer = d.a.received();
    CHECK(answer.wr_id == 2);
    CHECK(answer.byte_len == kGrh + 10);
    CHECK(answer.src_qp == d.qb->qp_num);
}

TEST_CASE("datagrams take their receives from a shared queue, too") {
    Datagrams d;
    const Srq srq = d.b.make_srq();
    const Qp qp = d.b.make_qp({.type = IBV_QPT_UD, .srq = srq.get()});
    ready_for_datagrams(qp.get());
    REQUIRE(post_receive(srq.get(), {.id = 5, .segments = {d.mb.segment(0, 200)}}) == 0);
    d.send(d.to(qp, 10));
    const ibv_wc wc = d.b.received();
    CHECK(wc.wr_id == 5);
    CHECK(wc.qp_num == qp->qp_num);
    CHECK(wc.byte_len == kGrh + 10);
}

TEST_CASE("in RTR datagrams are received, and not yet sent") {
    Datagrams d;
    REQUIRE(modify(d.qb.get(), to(IBV_QPS_RESET)) == 0);
    REQUIRE(modify(d.qb.get(), datagrams_to_init()) == 0);
    d.post_receive_at_b();
    REQUIRE(modify(d.qb.get(), to(IBV_QPS_RTR)) == 0);
    d.send(d.datagram(10));
    d.check_received(10);
    const Ah back = make_ah(d.b);
    CHECK(post(d.qb.get(), {.ah = back.get(), .qpn = d.qa->qp_num, .qkey = kQkey}) == EINVAL);
}

TEST_CASE("the move to error flushes datagrams") {
    Datagrams d;
    d.post_receive_at_b(7);
    REQUIRE(modify(d.qb.get(), to(IBV_QPS_ERR)) == 0);
    const ibv_wc wc = d.b.received();
    CHECK(wc.wr_id == 7);
    CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
    REQUIRE(modify(d.qa.get(), to(IBV_QPS_ERR)) == 0);
    REQUIRE(post(d.qa.get(), d.datagram(10)) == 0);
    CHECK(d.a.sent().status == IBV_WC_WR_FLUSH_ERR);
}
