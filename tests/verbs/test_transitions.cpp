// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The states of a queue pair: which follow which, and with which attributes.

#include "rig.hpp"

#include <algorithm>
#include <array>

using namespace rig;

namespace {

constexpr std::array kStates = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
                                IBV_QPS_SQD,   IBV_QPS_SQE,  IBV_QPS_ERR};

// The move to a state with the attributes that its usual predecessor demands.
Move usual(ibv_qp_state next, const Qp& qp) {
    switch (next) {
    case IBV_QPS_INIT:
        return to_init();
    case IBV_QPS_RTR:
        return to_rtr(qp->qp_num);
    case IBV_QPS_RTS:
        return to_rts();
    default:
        return to(next);
    }
}

// Takes a new queue pair to a state on the shortest way. It is its own peer.
void bring(const Qp& qp, ibv_qp_state wanted) {
    if (wanted == IBV_QPS_ERR) {
        bring(qp, IBV_QPS_RTS);
        REQUIRE(modify(qp.get(), to(IBV_QPS_ERR)) == 0);
        return;
    }
    for (const ibv_qp_state next : kStates) {
        if (next != IBV_QPS_RESET && next <= wanted)
            REQUIRE(modify(qp.get(), usual(next, qp)) == 0);
    }
    if (wanted != IBV_QPS_SQD) return;
    // Not before it is drained can it be moved on.
    await([&] { return !query(qp.get()).sq_draining; });
}

template <ibv_qp_state State, ibv_qp_state... Next>
struct From {
    static constexpr ibv_qp_state state = State;
    static constexpr std::array<ibv_qp_state, sizeof...(Next)> next = {Next...};
};
using FromReset = From<IBV_QPS_RESET, IBV_QPS_RESET, IBV_QPS_INIT>;
using FromInit = From<IBV_QPS_INIT, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_ERR>;
using FromRtr = From<IBV_QPS_RTR, IBV_QPS_RESET, IBV_QPS_RTS, IBV_QPS_ERR>;
using FromRts = From<IBV_QPS_RTS, IBV_QPS_RESET, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR>;
using FromSqd = From<IBV_QPS_SQD, IBV_QPS_RESET, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR>;
using FromErr = From<IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_ERR>;

// From itself, and from SQD, RTS demands no attributes.
Move fitting(ibv_qp_state current, ibv_qp_state next, const Qp& qp) {
    const bool plain = current == next || (current == IBV_QPS_SQD && next == IBV_QPS_RTS);
    return plain ? to(next) : usual(next, qp);
}

} // namespace

TEST_CASE_TEMPLATE("the states that can be entered", T, FromReset, FromInit, FromRtr, FromRts,
                   FromSqd, FromErr) {
    const Side side;
    for (const ibv_qp_state next : T::next) {
        CAPTURE(next);
        const Qp qp = side.make_qp();
        bring(qp, T::state);
        CHECK(state(qp.get()) == T::state);
        CHECK(qp->state == T::state);
        CHECK(modify(qp.get(), fitting(T::state, next, qp)) == 0);
        CHECK(state(qp.get()) == next);
        CHECK(qp->state == next);
    }
}

TEST_CASE_TEMPLATE("the states that cannot be entered", T, FromReset, FromInit, FromRtr, FromRts,
                   FromSqd, FromErr) {
    const Side side;
    for (const ibv_qp_state next : kStates) {
        if (std::find(T::next.begin(), T::next.end(), next) != T::next.end()) continue;
        CAPTURE(next);
        const Qp qp = side.make_qp();
        bring(qp, T::state);
        CHECK(modify(qp.get(), usual(next, qp)) == EINVAL);
        CHECK(modify(qp.get(), to(next)) == EINVAL);
        CHECK(state(qp.get()) == T::state);
        CHECK(qp->state == T::state);
    }
}

namespace {

constexpr std::array kAttributes = {IBV_QP_CUR_STATE,
                                    IBV_QP_EN_SQD_ASYNC_NOTIFY,
                                    IBV_QP_ACCESS_FLAGS,
                                    IBV_QP_PKEY_INDEX,
                                    IBV_QP_PORT,
                                    IBV_QP_QKEY,
                                    IBV_QP_AV,
                                    IBV_QP_PATH_MTU,
                                    IBV_QP_TIMEOUT,
                                    IBV_QP_RETRY_CNT,
                                    IBV_QP_RNR_RETRY,
                                    IBV_QP_RQ_PSN,
                                    IBV_QP_MAX_QP_RD_ATOMIC,
                                    IBV_QP_MIN_RNR_TIMER,
                                    IBV_QP_SQ_PSN,
                                    IBV_QP_MAX_DEST_RD_ATOMIC,
                                    IBV_QP_DEST_QPN};

// A move with good values for all attributes, of which the mask then names some.
Move complete(ibv_qp_state next, ibv_qp_state current, const Qp& qp) {
    Move m = to_rts();
    m.attr.qp_state = next;
    m.attr.cur_qp_state = current;
    m.attr.port_num = kPort;
    m.attr.qkey = kQkey;
    const Move rtr = to_rtr(qp->qp_num);
    m.attr.ah_attr = rtr.attr.ah_attr;
    m.attr.path_mtu = rtr.attr.path_mtu;
    m.attr.dest_qp_num = rtr.attr.dest_qp_num;
    m.attr.max_dest_rd_atomic = rtr.attr.max_dest_rd_atomic;
    return m;
}

template <ibv_qp_type Type, ibv_qp_state Current, ibv_qp_state Next, int Required, int Optional>
struct Masks {
    static constexpr ibv_qp_type type = Type;
    static constexpr ibv_qp_state current = Current;
    static constexpr ibv_qp_state next = Next;
    static constexpr int required = IBV_QP_STATE | Required;
    static constexpr int optional = Optional;

    static Qp bring(const Side& side) {
        Qp qp = side.make_qp({.type = type});
        if (type == IBV_QPT_RC) {
            ::bring(qp, current);
        } else if (current >= IBV_QPS_INIT) {
            REQUIRE(modify(qp.get(), datagrams_to_init()) == 0);
            if (current >= IBV_QPS_RTR) REQUIRE(modify(qp.get(), to(IBV_QPS_RTR)) == 0);
            if (current >= IBV_QPS_RTS) REQUIRE(modify(qp.get(), datagrams_to_rts()) == 0);
        }
        return qp;
    }

    static int modify_with(const Qp& qp, int mask) {
        Move m = complete(next, current, qp);
        m.mask = mask;
        return modify(qp.get(), m);
    }
};

using ConnectedInit = Masks<IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT,
                            IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0>;
using ConnectedInitAgain = Masks<IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0,
                                 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS>;
using ConnectedRtr = Masks<IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
                           IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                           IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX>;
using ConnectedRts = Masks<IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
                           IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                               IBV_QP_MAX_QP_RD_ATOMIC,
                           IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER>;
using ConnectedRtsAgain = Masks<IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0,
                                IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER>;
using ConnectedSqd = Masks<IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY>;
using DatagramInit = Masks<IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT,
                           IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0>;
using DatagramRtr =
    Masks<IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY>;
using DatagramRts =
    Masks<IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY>;

} // namespace

TEST_CASE_TEMPLATE("a move wants all its attributes, and none that is not its own", T,
                   ConnectedInit, ConnectedInitAgain, ConnectedRtr, ConnectedRts, ConnectedRtsAgain,
                   ConnectedSqd, DatagramInit, DatagramRtr, DatagramRts) {
    const Side side;
    const Qp qp = T::bring(side);
    for (const int attribute : kAttributes) {
        CAPTURE(attribute);
        const int mask =
            attribute & T::required ? T::required & ~attribute : T::required | attribute;
        if (attribute & T::optional) continue;
        CHECK(T::modify_with(qp, mask) == EINVAL);
        CHECK(state(qp.get()) == T::current);
    }
    CHECK(T::modify_with(qp, T::required) == 0);
    CHECK(state(qp.get()) == T::next);
}

TEST_CASE_TEMPLATE("a move takes its optional attributes", T, ConnectedInitAgain, ConnectedRtr,
                   ConnectedRts, ConnectedRtsAgain, ConnectedSqd, DatagramRtr, DatagramRts) {
    const Side side;
    for (const int attribute : kAttributes) {
        if (!(attribute & T::optional)) continue;
        CAPTURE(attribute);
        const Qp qp = T::bring(side);
        CHECK(T::modify_with(qp, T::required | attribute) == 0);
        CHECK(state(qp.get()) == T::next);
    }
}
