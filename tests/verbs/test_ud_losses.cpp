// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Datagrams that are lost without a word, and those that fail.

#include "datagrams.hpp"

using namespace rig;

// "The CI shall not emit any packets for this message. Further, the CI shall not generate an error
// due to this condition" (C10-93.1.1).
TEST_CASE("a datagram longer than the port's MTU is not sent, and completes") {
    Datagrams d;
    d.post_receive_at_b();
    d.send(d.datagram((size_t{128} << device().port.active_mtu) + 1));
    d.send(d.datagram(10));
    d.check_received(10);
}

TEST_CASE("a datagram with a wrong key is dropped") {
    Datagrams d;
    d.post_receive_at_b();
    Work wrong = d.datagram(50);
    wrong.qkey ^= 1;
    d.send(wrong);
    d.send(d.datagram(10));
    d.check_received(10);
    CHECK(d.b.quiet());
}

TEST_CASE("the key of a queue pair can change") {
    Datagrams d;
    d.post_receive_at_b();
    Move m = to(IBV_QPS_RTS);
    m.mask |= IBV_QP_QKEY;
    m.attr.qkey = kQkey + 1;
    REQUIRE(modify(d.qb.get(), m) == 0);
    d.send(d.datagram(50));
    Work w = d.datagram(10);
    w.qkey = kQkey + 1;
    d.send(w);
    d.check_received(10);
}

TEST_CASE("a datagram without a receive is dropped") {
    Datagrams d;
    const Qp other = d.b.make_qp(kDatagrams);
    ready_for_datagrams(other.get());
    REQUIRE(post_receive(other.get(), {.id = 1, .segments = {d.mb.segment(8000, 100)}}) == 0);
    d.send(d.datagram(50));
    // When this has arrived, so had the one before it, if it ever would.
    d.send(d.to(other, 1));
    CHECK(d.b.received().wr_id == 1);
    d.mb.bytes.assign(d.mb.bytes.size(), 0);
    d.post_receive_at_b();
    d.send(d.datagram(10));
    d.check_received(10);
    CHECK(d.b.quiet());
}

TEST_CASE("a datagram to nobody is dropped") {
    Datagrams d;
    Qp gone = d.b.make_qp(kDatagrams);
    const Work w = d.to(gone, 10);
    gone.reset();
    d.send(w);
    CHECK(state(d.qa.get()) == IBV_QPS_RTS);
}

TEST_CASE("a datagram to a connection is dropped") {
    Datagrams d;
    const Qp connected = d.b.make_qp();
    connect(connected.get(), connected->qp_num);
    REQUIRE(post_receive(connected.get(), {.segments = {d.mb.segment(0, 100)}}) == 0);
    d.send(d.to(connected, 10));
    d.post_receive_at_b();
    d.send(d.datagram(10));
    d.check_received(10);
    CHECK(d.b.quiet());
    CHECK(state(connected.get()) == IBV_QPS_RTS);
}

TEST_CASE("a datagram too long for its receive fails the receive, not the send") {
    Datagrams d;
    REQUIRE(post_receive(d.qb.get(), {.id = 1, .segments = {d.mb.segment(0, kGrh + 9)}}) == 0);
    d.send(d.datagram(10));
    const ibv_wc wc = d.b.received();
    CHECK(wc.wr_id == 1);
    CHECK(wc.status ==
          expected(Differs::receive_too_short, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR));
    await_state(d.qb.get(), IBV_QPS_ERR);
}

TEST_CASE("a datagram that cannot be sent stops sending until it is allowed again") {
    Datagrams d;
    Work bad = d.datagram(10);
    bad.segments[0].addr = d.ma.address(d.ma.bytes.size());
    REQUIRE(post(d.qa.get(), bad) == 0);
    CHECK(d.a.sent().status == IBV_WC_LOC_PROT_ERR);
    if (differs(Differs::datagram_send_error)) {
        await_state(d.qa.get(), IBV_QPS_ERR);
        return;
    }
    await_state(d.qa.get(), IBV_QPS_SQE);
    REQUIRE(post(d.qa.get(), d.datagram(10)) == 0);
    CHECK(d.a.sent().status == IBV_WC_WR_FLUSH_ERR);

    REQUIRE(post_receive(d.qa.get(), {.segments = {d.ma.segment(8000, 100)}}) == 0);
    const Ah back = make_ah(d.b);
    REQUIRE(post(d.qb.get(), {.ah = back.get(), .qpn = d.qa->qp_num, .qkey = kQkey}) == 0);
    CHECK(d.a.received().status == IBV_WC_SUCCESS);

    REQUIRE(modify(d.qa.get(), to(IBV_QPS_RTS)) == 0);
    d.post_receive_at_b();
    d.send(d.datagram(10));
    d.check_received(10);
}

TEST_CASE("only sends are datagrams") {
    Datagrams d;
    Work w = d.datagram(10);
    w.opcode = IBV_WR_RDMA_READ;
    // Some devices look at once, others when they execute it.
    if (const int error = post(d.qa.get(), w)) {
        CHECK(error == EINVAL);
    } else {
        CHECK(d.a.sent().status == IBV_WC_LOC_QP_OP_ERR);
    }
}

TEST_CASE("an address has to begin at a port that is there") {
    const Side side;
    for (const int port : {0, device().attr.phys_port_cnt + 1}) {
        ibv_ah_attr attr = device().path;
        attr.port_num = uint8_t(port);
        errno = 0;
        CHECK(ibv_create_ah(side.pd.get(), &attr) == nullptr);
        CHECK(errno == EINVAL);
    }
}
