// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The states of a queue pair, and how they change.

#include "softrc/faults.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/transitions.hpp"

#include <cerrno>

namespace odrc::soft {
namespace {

bool sound(const ibv_qp_attr& attr, int mask) noexcept {
    if (mask & IBV_QP_PORT && attr.port_num != 1) return false;
    if (mask & IBV_QP_PKEY_INDEX && attr.pkey_index != 0) return false;
    if (mask & IBV_QP_AV && !may_reach(attr.ah_attr)) return false;
    if (mask & IBV_QP_PATH_MTU && (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > IBV_MTU_4096))
        return false;
    if (mask & IBV_QP_DEST_QPN && attr.dest_qp_num >= kQpNumbers) return false;
    if (mask & IBV_QP_TIMEOUT && attr.timeout > 31) return false;
    if (mask & IBV_QP_RETRY_CNT && attr.retry_cnt > 7) return false;
    if (mask & IBV_QP_RNR_RETRY && attr.rnr_retry > 7) return false;
    if (mask & IBV_QP_MIN_RNR_TIMER && attr.min_rnr_timer > 31) return false;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr.max_rd_atomic > kMaxReadAtomic) return false;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr.max_dest_rd_atomic > kMaxReadAtomic) return false;
    return true;
}

} // namespace

int QueuePair::modify(const ibv_qp_attr& attr, int mask) noexcept {
    std::lock_guard guard{lock_};
    const uint32_t from = state();
    const uint32_t to = mask & IBV_QP_STATE ? uint32_t{attr.qp_state} : from;
    if (mask & IBV_QP_CUR_STATE && attr.cur_qp_state != from) return EINVAL;
    if (!may_modify(qp_type, from, to, mask) || !sound(attr, mask)) return EINVAL;
    take_attributes(attr, mask);
    switch (to) {
    case IBV_QPS_RESET:
        to_reset();
        break;
    case IBV_QPS_ERR:
        to_error();
        break;
    case IBV_QPS_RTR:
        read_faults(true);
        if (const int error = to_rtr()) return error;
        break;
    default:
        set_state(to);
    }
    if (to == IBV_QPS_SQD && from != IBV_QPS_SQD) begin_drain();
    resume();
    return 0;
}

void QueuePair::set_state(uint32_t state) noexcept {
    port_->state.store(state, std::memory_order_seq_cst);
    ibv_qp::state = static_cast<ibv_qp_state>(state);
}

void QueuePair::take_attributes(const ibv_qp_attr& attr, int mask) noexcept {
    if (mask & IBV_QP_PORT) attr_.port_num = attr.port_num;
    if (mask & IBV_QP_AV) {
        attr_.ah_attr = attr.ah_attr;
        reachable_ = process_.reaches(attr.ah_attr);
    }
    if (mask & IBV_QP_PATH_MTU) attr_.path_mtu = attr.path_mtu;
    if (mask & IBV_QP_DEST_QPN) attr_.dest_qp_num = attr.dest_qp_num;
    if (mask & IBV_QP_RQ_PSN) attr_.rq_psn = attr.rq_psn & 0xffffff;
    if (mask & IBV_QP_SQ_PSN) attr_.sq_psn = attr.sq_psn & 0xffffff;
    if (mask & IBV_QP_TIMEOUT) attr_.timeout = attr.timeout;
    if (mask & IBV_QP_RETRY_CNT) attr_.retry_cnt = attr.retry_cnt;
    if (mask & IBV_QP_RNR_RETRY) attr_.rnr_retry = attr.rnr_retry;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC) attr_.max_rd_atomic = attr.max_rd_atomic;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) attr_.max_dest_rd_atomic = attr.max_dest_rd_atomic;
    if (mask & IBV_QP_MIN_RNR_TIMER) {
        attr_.min_rnr_timer = attr.min_rnr_timer;
        port_->min_rnr_timer.store(attr.min_rnr_timer, std::memory_order_relaxed);
    }
    if (mask & IBV_QP_ACCESS_FLAGS) {
        attr_.qp_access_flags = attr.qp_access_flags;
        port_->access.store(attr.qp_access_flags, std::memory_order_relaxed);
    }
    if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) attr_.en_sqd_async_notify = attr.en_sqd_async_notify;
    if (mask & IBV_QP_QKEY) {
        attr_.qkey = attr.qkey;
        port_->qkey.store(attr.qkey, std::memory_order_relaxed);
    }
}

void QueuePair::query(ibv_qp_attr& attr, ibv_qp_init_attr& init) const noexcept {
    attr = attr_;
    attr.qp_state = attr.cur_qp_state = static_cast<ibv_qp_state>(state());
    attr.sq_draining = state() == IBV_QPS_SQD && draining_ != 0;
    attr.cap = cap_;
    init = {.qp_context = qp_context,
            .send_cq = send_cq,
            .recv_cq = recv_cq,
            .srq = srq,
            .cap = cap_,
            .qp_type = qp_type,
            .sq_sig_all = signal_all_};
}

int QueuePair::to_rtr() noexcept {
    if (!datagram()) {
        link_ = find_link(attr_.dest_qp_num, IBV_QPT_RC);
        if (link_.error) return link_.error;
        // Only a sender whose progress we can see is let in: see wait_for_sender().
        let_in_sender();
    }
    set_state(IBV_QPS_RTR);
    return 0;
}

void QueuePair::to_error() noexcept {
    set_state(IBV_QPS_ERR);
    await_sender();
    recover_from_death();
    flush();
}

void QueuePair::to_reset() noexcept {
    set_state(IBV_QPS_RESET);
    await_sender();
    recover_from_death();
    waiting_.clear();
    send_queue().purge(*this);
    if (recv_cq != send_cq) receive_queue().purge(*this);
    drop_receives();
    port_->established = false;
    port_->sender = 0;
    link_ = {};
    met_.clear();
    attr_ = {};
    draining_ = 0;
    last_told_ = false;
    posted_.store(0, std::memory_order_relaxed);
    retired_.store(0, std::memory_order_release);
}

} // namespace odrc::soft
