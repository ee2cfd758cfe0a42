// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Values of attributes: which are refused, and what ibv_query_qp says of the others.

#include "rig.hpp"

#include <cstring>

using namespace rig;

namespace {

// Nothing of a refused move is done.
void check_refused(const Qp& qp, const Move& move) {
    const ibv_qp_state before = state(qp.get());
    CHECK(modify(qp.get(), move) == EINVAL);
    CHECK(state(qp.get()) == before);
}

} // namespace

TEST_CASE("a port has to be there") {
    const Side side;
    const Qp qp = side.make_qp();
    for (const int port : {0, device().attr.phys_port_cnt + 1}) {
        Move m = to_init();
        m.attr.port_num = uint8_t(port);
        check_refused(qp, m);
    }
}

TEST_CASE("a path has to begin at the queue pair's port") {
    const Side side;
    const Qp qp = side.make_qp();
    REQUIRE(modify(qp.get(), to_init()) == 0);
    for (const int port : {0, device().attr.phys_port_cnt + 1}) {
        Move m = to_rtr(qp->qp_num);
        m.attr.ah_attr.port_num = uint8_t(port);
        check_refused(qp, m);
    }
}

TEST_CASE("a path has to begin at a GID that there is") {
    const Side side;
    const Qp qp = side.make_qp();
    REQUIRE(modify(qp.get(), to_init()) == 0);
    Move m = to_rtr(qp->qp_num);
    m.attr.ah_attr.grh.sgid_index = 200;
    CHECK(modify(qp.get(), m) != 0);
    CHECK(state(qp.get()) == IBV_QPS_INIT);
}

TEST_CASE("the MTU of a path is at most the port's") {
    const Side side;
    const Qp qp = side.make_qp();
    REQUIRE(modify(qp.get(), to_init()) == 0);
    check_refused(qp, to_rtr(qp->qp_num, {.mtu = ibv_mtu(device().port.max_mtu + 1)}));
    CHECK(modify(qp.get(), to_rtr(qp->qp_num, {.mtu = device().port.active_mtu})) == 0);
}

TEST_CASE("a timeout has five bits") {
    const Side side;
    const Qp qp = side.make_qp();
    REQUIRE(modify(qp.get(), to_init()) == 0);
    REQUIRE(modify(qp.get(), to_rtr(qp->qp_num)) == 0);
    check_refused(qp, to_rts({.timeout = 32}));
    CHECK(modify(qp.get(), to_rts({.timeout = 31})) == 0);
}

TEST_CASE("more reads at once than the device can make are refused") {
    const Side side;
    const Qp qp = side.make_qp();
    REQUIRE(modify(qp.get(), to_init()) == 0);
    REQUIRE(modify(qp.get(), to_rtr(qp->qp_num)) == 0);
    const int most = device().attr.max_qp_init_rd_atom;
    REQUIRE(most < 255);
    check_refused(qp, to_rts({.reads = uint8_t(most + 1)}));
    CHECK(modify(qp.get(), to_rts({.reads = uint8_t(most)})) == 0);
}

TEST_CASE("a connected queue pair tells what it was told") {
    const Side side;
    const Qp qp = side.make_qp();
    const Path path{.timeout = 17,
                    .retries = 5,
                    .rnr_retries = 6,
                    .rnr_timer = 12,
                    .reads = 2,
                    .mtu = IBV_MTU_2048,
                    .access = IBV_ACCESS_REMOTE_READ,
                    .psn = 0x123456};
    REQUIRE(modify(qp.get(), to_init(path)) == 0);
    ibv_qp_attr told = query(qp.get());
    CHECK(told.qp_state == IBV_QPS_INIT);
    CHECK(told.port_num == kPort);
    CHECK(told.pkey_index == 0);
    CHECK(told.qp_access_flags == IBV_ACCESS_REMOTE_READ);

    REQUIRE(modify(qp.get(), to_rtr(0xabcdef, path)) == 0);
    told = query(qp.get());
    CHECK(told.qp_state == IBV_QPS_RTR);
    CHECK(told.path_mtu == IBV_MTU_2048);
    CHECK(told.dest_qp_num == 0xabcdef);
    CHECK(told.rq_psn == 0x123456);
    CHECK(told.max_dest_rd_atomic == 2);
    CHECK(told.min_rnr_timer == 12);
    CHECK(told.ah_attr.is_global == 1);
    CHECK(told.ah_attr.port_num == kPort);
    CHECK(told.ah_attr.grh.sgid_index == device().path.grh.sgid_index);
    CHECK(std::memcmp(&told.ah_attr.grh.dgid, &device().path.grh.dgid, sizeof(ibv_gid)) == 0);

    REQUIRE(modify(qp.get(), to_rts(path)) == 0);
    told = query(qp.get());
    CHECK(told.qp_state == IBV_QPS_RTS);
    CHECK(told.timeout == 17);
    CHECK(told.retry_cnt == 5);
    CHECK(told.rnr_retry == 6);
    CHECK(told.sq_psn == 0x123456);
    CHECK(told.max_rd_atomic == 2);
    CHECK(told.sq_draining == 0);
    CHECK(told.port_num == kPort);
    CHECK(told.dest_qp_num == 0xabcdef);
}

TEST_CASE("a datagram queue pair tells what it was told") {
    const Side side;
    const Qp qp = side.make_qp({.type = IBV_QPT_UD});
    ready_for_datagrams(qp.get(), 0x7654321);
    const ibv_qp_attr told = query(qp.get());
    CHECK(told.qp_state == IBV_QPS_RTS);
    CHECK(told.qkey == 0x7654321);
    CHECK(told.port_num == kPort);
}

TEST_CASE("an optional attribute takes effect") {
    const Side side;
    const Qp qp = side.make_qp();
    connect(qp.get(), qp->qp_num);
    Move m = to(IBV_QPS_RTS);
    m.mask |= IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS;
    m.attr.min_rnr_timer = 9;
    m.attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    REQUIRE(modify(qp.get(), m) == 0);
    CHECK(query(qp.get()).min_rnr_timer == 9);
    CHECK(query(qp.get()).qp_access_flags == IBV_ACCESS_REMOTE_WRITE);
}

TEST_CASE("attributes can change without a word of the state") {
    const Side side;
    const Qp qp = side.make_qp();
    connect(qp.get(), qp->qp_num);
    Move m{.mask = IBV_QP_ACCESS_FLAGS};
    m.attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    REQUIRE(modify(qp.get(), m) == 0);
    CHECK(query(qp.get()).qp_access_flags == IBV_ACCESS_REMOTE_WRITE);
    CHECK(state(qp.get()) == IBV_QPS_RTS);
}

TEST_CASE("a queue pair tells what it was made with") {
    const Side side;
    const Srq srq = side.make_srq();
    const Qp qp = side.make_qp({.srq = srq.get(), .signal_all = true});
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    REQUIRE(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE | IBV_QP_CAP, &init) == 0);
    CHECK(attr.qp_state == IBV_QPS_RESET);
    CHECK(init.qp_type == IBV_QPT_RC);
    CHECK(init.sq_sig_all == 1);
    CHECK(init.send_cq == side.sends.get());
    CHECK(init.recv_cq == side.receives.get());
    CHECK(init.srq == srq.get());
    CHECK(init.cap.max_send_wr >= 32);
    CHECK(init.cap.max_send_sge >= 4);
    CHECK(init.cap.max_inline_data >= 64);
    CHECK(qp->qp_type == IBV_QPT_RC);
    CHECK(qp->context == side.context.get());
    CHECK(qp->pd == side.pd.get());
}
