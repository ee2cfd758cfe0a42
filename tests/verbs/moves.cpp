// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "moves.hpp"

namespace rig {

Move to(ibv_qp_state state) {
    Move m;
    m.attr.qp_state = state;
    return m;
}

Move to_init(const Path& path) {
    Move m = to(IBV_QPS_INIT);
    m.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    m.attr.port_num = kPort;
    m.attr.qp_access_flags = path.access;
    return m;
}

Move to_rtr(uint32_t peer, const Path& path) {
    Move m = to(IBV_QPS_RTR);
    m.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    m.attr.ah_attr = device().path;
    m.attr.path_mtu = path.mtu;
    m.attr.dest_qp_num = peer;
    m.attr.rq_psn = path.psn;
    m.attr.max_dest_rd_atomic = path.reads;
    m.attr.min_rnr_timer = path.rnr_timer;
    return m;
}

Move to_rts(const Path& path) {
    Move m = to(IBV_QPS_RTS);
    m.mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
              IBV_QP_MAX_QP_RD_ATOMIC;
    m.attr.timeout = path.timeout;
    m.attr.retry_cnt = path.retries;
    m.attr.rnr_retry = path.rnr_retries;
    m.attr.sq_psn = path.psn;
    m.attr.max_rd_atomic = path.reads;
    return m;
}

Move datagrams_to_init(uint32_t qkey) {
    Move m = to(IBV_QPS_INIT);
    m.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    m.attr.port_num = kPort;
    m.attr.qkey = qkey;
    return m;
}

Move datagrams_to_rts() {
    Move m = to(IBV_QPS_RTS);
    m.mask |= IBV_QP_SQ_PSN;
    return m;
}

int modify(ibv_qp* qp, Move move) { return ibv_modify_qp(qp, &move.attr, move.mask); }

ibv_qp_attr query(ibv_qp* qp) {
    constexpr int kAll = (IBV_QP_DEST_QPN << 1) - 1;
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    REQUIRE(ibv_query_qp(qp, &attr, kAll, &init) == 0);
    return attr;
}

ibv_qp_state state(ibv_qp* qp) { return query(qp).qp_state; }

void await_state(ibv_qp* qp, ibv_qp_state wanted) {
    await([&] { return state(qp) == wanted; });
}

void connect(ibv_qp* qp, uint32_t peer, const Path& path) {
    REQUIRE(modify(qp, to_init(path)) == 0);
    REQUIRE(modify(qp, to_rtr(peer, path)) == 0);
    REQUIRE(modify(qp, to_rts(path)) == 0);
}

void ready_for_datagrams(ibv_qp* qp, uint32_t qkey) {
    REQUIRE(modify(qp, datagrams_to_init(qkey)) == 0);
    REQUIRE(modify(qp, to(IBV_QPS_RTR)) == 0);
    REQUIRE(modify(qp, datagrams_to_rts()) == 0);
}

} // namespace rig
