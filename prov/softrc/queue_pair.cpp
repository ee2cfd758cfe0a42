// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/queue_pair.hpp"

#include <algorithm>
#include <cerrno>

namespace odrc::soft {

QueuePair* QueuePair::create(Process& process, ibv_pd* pd, uint32_t pd_number,
                             ibv_qp_init_attr* attr) noexcept {
    ibv_qp_cap& cap = attr->cap;
    if (attr->qp_type != IBV_QPT_RC || !attr->send_cq || !attr->recv_cq ||
        cap.max_send_wr > kMaxWorkRequests || cap.max_send_sge > kMaxSendSegments ||
        cap.max_inline_data > kMaxInline ||
        (!attr->srq &&
         (cap.max_recv_wr > kMaxWorkRequests || cap.max_recv_sge > kMaxReceiveSegments))) {
        errno = attr->qp_type == IBV_QPT_RC ? EINVAL : EOPNOTSUPP;
        return nullptr;
    }
    if (attr->srq) cap.max_recv_wr = cap.max_recv_sge = 0;
    cap.max_inline_data = kMaxInline; // inline costs nothing here: always all of it
    std::unique_ptr<QueuePair> qp{new (std::nothrow) QueuePair{process, pd, pd_number, *attr}};
    if (!qp || !qp->allocate()) {
        errno = ENOMEM;
        return nullptr;
    }
    return qp.release();
}

QueuePair::QueuePair(Process& process, ibv_pd* pd, uint32_t pd_number,
                     const ibv_qp_init_attr& attr) noexcept
    : ibv_qp{}
    , process_{process}
    , pd_number_{pd_number}
    , cap_{attr.cap}
    , signal_all_{attr.sq_sig_all != 0} {
    context = pd->context;
    qp_context = attr.qp_context;
    this->pd = pd;
    send_cq = attr.send_cq;
    recv_cq = attr.recv_cq;
    srq = attr.srq;
    qp_type = attr.qp_type;
    ibv_qp::state = IBV_QPS_RESET;
}

bool QueuePair::allocate() noexcept {
    if (!srq) {
        own_receives_.reset(new (std::nothrow) ReceiveQueue{process_.arena(), pd_number_,
                                                            std::max(cap_.max_recv_wr, 1u),
                                                            std::max(cap_.max_recv_sge, 1u)});
        if (!own_receives_) return false;
    }
    if (!receives().ok()) return false;
    port_offset_ = process_.arena().allocate(sizeof(QpPort));
    if (port_offset_ == 0) return false;
    port_ = process_.arena().at<QpPort>(port_offset_);
    listed_ = process_.queue_pairs().add(*this, index_);
    if (!listed_) return false;
    port_->pd = pd_number_;
    port_->qp_index = index_;
    port_->receive_ring = receives().offset();
    port_->completion_ring = receive_queue().offset();
    qp_num = process_.node().allocate_qp_number(port_offset_);
    port_->qp_num = qp_num;
    return qp_num != 0;
}

QueuePair::~QueuePair() {
    if (port_) port_->state.store(kPortClosed, std::memory_order_seq_cst);
    process_.remove_stalled(*this);
    await_sender();
    if (qp_num != 0) {
        process_.node().release_qp_number(qp_num);
        send_queue().purge(*this);
        if (recv_cq != send_cq) receive_queue().purge(*this);
    }
    if (listed_) process_.queue_pairs().remove(index_);
    if (port_) process_.arena().release(port_offset_, sizeof(QpPort));
}

int QueuePair::modify(const ibv_qp_attr& attr, int mask) noexcept {
    if (!(mask & IBV_QP_STATE)) return EINVAL;
    std::lock_guard guard{lock_};
    const uint32_t from = state();
    // The attributes that a transition cannot do without (IBTA 1.4, table 100).
    constexpr int kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    constexpr int kRtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    constexpr int kRts = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_MAX_QP_RD_ATOMIC;
    auto has = [mask](int required) { return (mask & required) == required; };
    int error = 0;
    if (attr.qp_state == IBV_QPS_RESET)
        to_reset();
    else if (attr.qp_state == IBV_QPS_ERR)
        to_error();
    else if (attr.qp_state == IBV_QPS_INIT && from == IBV_QPS_RESET && has(kInit))
        error = to_init(attr);
    else if (attr.qp_state == IBV_QPS_RTR && from == IBV_QPS_INIT && has(kRtr))
        error = to_rtr(attr);
    else if (attr.qp_state == IBV_QPS_RTS && from == IBV_QPS_RTR && has(kRts))
        error = to_rts(attr);
    else
        error = EINVAL;
    if (error == 0) ibv_qp::state = attr.qp_state;
    return error;
}

int QueuePair::to_init(const ibv_qp_attr& attr) noexcept {
    if (attr.port_num != 1 || attr.pkey_index != 0) return EINVAL;
    port_->access = attr.qp_access_flags;
    port_->state.store(IBV_QPS_INIT, std::memory_order_seq_cst);
    return 0;
}

int QueuePair::to_rtr(const ibv_qp_attr& attr) noexcept {
    if (attr.dest_qp_num >= kQpNumbers) return EINVAL;
    destination_ = attr.dest_qp_num;
    reachable_ = !attr.ah_attr.is_global ||
                 std::ranges::equal(process_.node().id(), attr.ah_attr.grh.dgid.raw);
    link_ = find_link(destination_);
    port_->min_rnr_timer = attr.min_rnr_timer & 0x1f;
    // Only a sender whose progress we can see is let in: see wait_for_sender().
    port_->peer_qp_num = link_ ? destination_ : 0;
    port_->state.store(IBV_QPS_RTR, std::memory_order_seq_cst);
    return 0;
}

int QueuePair::to_rts(const ibv_qp_attr& attr) noexcept {
    timeout_ = attr.timeout & 0x1f;
    retry_count_ = attr.retry_cnt & 7;
    rnr_retry_ = attr.rnr_retry & 7;
    port_->state.store(IBV_QPS_RTS, std::memory_order_seq_cst);
    return 0;
}

void QueuePair::to_error() noexcept {
    port_->state.store(IBV_QPS_ERR, std::memory_order_seq_cst);
    await_sender();
    flush();
}

void QueuePair::to_reset() noexcept {
    port_->state.store(IBV_QPS_RESET, std::memory_order_seq_cst);
    await_sender();
    waiting_.clear();
    send_queue().purge(*this);
    if (recv_cq != send_cq) receive_queue().purge(*this);
    link_ = {};
    posted_ = 0;
    retired_.store(0, std::memory_order_release);
}

QueuePair::Link QueuePair::find_link(uint32_t qp_number) const noexcept {
    Link link;
    if (!reachable_) return {};
    const auto place = process_.node().find_qp(qp_number);
    if (!place) return {};
    link.process = process_.peer(*place);
    if (!link.process) return {};
    const ArenaView& arena = link.process->arena();
    QpPort* port = arena.at<QpPort>(place->port_offset);
    if (!port || port->qp_num != qp_number) return {};
    link.receives = ReceiveRingView{arena, port->receive_ring};
    link.completions = CompletionRingView{arena, port->completion_ring};
    if (link.receives && link.completions) link.port = port;
    return link;
}

void QueuePair::wait_for_sender() noexcept {
    std::lock_guard guard{lock_};
    await_sender();
}

void QueuePair::await_sender() const noexcept {
    if (!link_) return;
    const uint32_t seen = link_.port->busy.load(std::memory_order_seq_cst);
    if (seen % 2 == 0) return;
    // Over when the sender has left, its queue pair is gone, or its process is.
    while (link_.port->busy.load(std::memory_order_acquire) == seen &&
           link_.port->qp_num == destination_ && !link_.process->check_dead())
        sched_yield();
}

void QueuePair::peer_died(const PeerProcess& peer) noexcept {
    std::lock_guard guard{lock_};
    if (!link_ || link_.process.get() != &peer || link_.port->qp_num != destination_) return;
    // What the sender held when it died: a receive claimed and written down, or one caught
    // between the two. It ends in error, once, unless its completion already stands.
    uint32_t lost = kMaxReceives;
    if (const uint32_t holds = link_.port->holds.load(std::memory_order_acquire)) lost = holds - 1;
    if (receive_queue().recover(*this, lost)) lost = kMaxReceives;
    receives().recover(qp_num, [&](uint32_t request) { lost = request; });
    if (!receives().outstanding(lost)) return;
    receive_queue().push({.wr_id = receives().view().request(lost).wr_id,
                          .byte_len = 0,
                          .imm_data = 0,
                          .qp_num = qp_num,
                          .qp_index = index_,
                          .request = lost,
                          .status = IBV_WC_WR_FLUSH_ERR,
                          .opcode = IBV_WC_RECV,
                          .flags = 0},
                         true);
}

} // namespace odrc::soft
