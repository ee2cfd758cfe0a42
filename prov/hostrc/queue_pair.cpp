// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// A connection's life: its states (IBTA 1.4, 10.3.1), and how it ends.

#include "hostrc/queue_pair.hpp"

#include "base/error.hpp"
#include "hostrc/completion_queue.hpp"
#include "hostrc/context.hpp"

#include <mutex>

namespace odrc::host {
namespace {

static_assert(sizeof(QueuePair) <= 544); // a quiet one takes nothing else

std::unique_ptr<Receives> make_receives(const ibv_qp_init_attr& attr) {
    return attr.srq ? nullptr : std::make_unique<Receives>(attr.cap.max_recv_wr);
}

Receives& receives_of(const ibv_qp_init_attr& attr, std::unique_ptr<Receives>& own) {
    return attr.srq ? static_cast<SharedReceiveQueue*>(attr.srq)->receives : *own;
}

} // namespace

QueuePair::QueuePair(CompletionQueue& cq, ibv_pd* of, uint32_t number, const ibv_qp_init_attr& attr)
    : ibv_qp{}
    , cq_{cq}
    , own_receives_{make_receives(attr)}
    , receives_{receives_of(attr, own_receives_)}
    , most_queued_{attr.cap.max_send_wr}
    , most_segments_{attr.cap.max_send_sge}
    , signal_all_{attr.sq_sig_all != 0} {
    context = &cq.context().verbs();
    qp_context = attr.qp_context;
    pd = of;
    send_cq = recv_cq = &cq;
    srq = attr.srq;
    qp_num = number;
    qp_type = IBV_QPT_RC;
    state = IBV_QPS_RESET;
    cq.enter(*this, of);
    if (srq) ++static_cast<SharedReceiveQueue*>(srq)->leaning;
}

QueuePair::~QueuePair() {
    {
        const std::lock_guard guard{cq_.lock()};
        fail();
    }
    cq_.wait_for_datagrams();
    {
        const std::lock_guard guard{cq_.lock()};
        while (WorkRequest* w = queue_.pop_front()) cq_.work_requests().give_back(*w);
        while (WorkRequest* w = spent_.pop_front()) cq_.work_requests().give_back(*w);
        if (static_cast<ListNode<Stirred>&>(*this).linked()) List<QueuePair, Stirred>::erase(*this);
        if (static_cast<ListNode<Timed>&>(*this).linked()) List<QueuePair, Timed>::erase(*this);
        cq_.leave(*this);
    }
    if (ah_) cq_.context().device().destroy_ah(ah_);
    if (srq) --static_cast<SharedReceiveQueue*>(srq)->leaning;
}

int QueuePair::modify(const ibv_qp_attr& attr, int mask) noexcept {
    const std::lock_guard guard{cq_.lock()};
    if (mask & IBV_QP_ACCESS_FLAGS) access_ = attr.qp_access_flags;
    if (!(mask & IBV_QP_STATE)) return 0;
    switch (attr.qp_state) {
    case IBV_QPS_INIT:
        if (state != IBV_QPS_RESET) return EINVAL;
        break;
    case IBV_QPS_RTR:
        if (state != IBV_QPS_INIT) return EINVAL;
        if (const int error = become_ready_to_receive(attr)) return error;
        break;
    case IBV_QPS_RTS:
        if (state != IBV_QPS_RTR) return EINVAL;
        most_reads_ = std::max<uint32_t>(attr.max_rd_atomic, 1);
        break;
    case IBV_QPS_ERR:
        fail();
        complete();
        if (!queue_.empty()) cq_.stir(*this);
        return 0;
    default:
        return EINVAL;
    }
    state = attr.qp_state;
    return 0;
}

int QueuePair::become_ready_to_receive(const ibv_qp_attr& attr) noexcept {
    ibv_ah_attr way = attr.ah_attr;
    ah_ = cq_.context().device().create_ah(pd, &way);
    if (!ah_) return errno ? errno : EINVAL;
    peer_datagrams_ = attr.dest_qp_num;
    peer_number_ = attr.rq_psn; // HostContext::identity
    return 0;
}

// Nothing goes out or comes in any more; what is under way is flushed, in its turn.
void QueuePair::fail() noexcept {
    state = IBV_QPS_ERR;
    if (receiving_) give_receive_back();
    while (WorkRequest* w = stream_.pop_front()) end(*w, IBV_WC_WR_FLUSH_ERR);
    for (WorkRequest* w = queue_.front(); w; w = queue_.after(*w)) // or for want of an answer
        if (w->status == IBV_WC_SUCCESS && w->lacks_answer()) w->status = IBV_WC_WR_FLUSH_ERR;
    cursor_ = nullptr;
    reads_ = 0;
    timed_at_ = 0;
    silence_at_ = paused_until_ = UINT64_MAX;
    if (static_cast<ListNode<Owing>&>(*this).linked()) List<QueuePair, Owing>::erase(*this);
}

} // namespace odrc::host
