// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// A connection's life: its states (IBTA 1.4, 10.3.1), and how it ends.

#include "hostrc/queue_pair.hpp"

#include "base/error.hpp"
#include "hostrc/completion_queue.hpp"
#include "hostrc/context.hpp"

#include <mutex>
#include <utility>

namespace odrc::host {
namespace {

// All that a quiet connection takes: itself, its share of the list heads by which it is found, of
// which there are at most twice as many as connections, and an address handle, which is the
// device's: an ibv_ah, and of soft0, of rxe and of mlx5 between 8 and 48 bytes more. malloc(3) adds
// one word to each.
constexpr size_t kWord = sizeof(void*);
constexpr size_t kFound = 2 * sizeof(List<QueuePair, Named>);
constexpr size_t kAddressHandle = sizeof(ibv_ah) + 8;
static_assert(sizeof(QueuePair) + kWord + kFound + kAddressHandle + kWord <= 256);

std::unique_ptr<Receives> make_receives(const ibv_qp_init_attr& attr) {
    return attr.srq ? nullptr : std::make_unique<Receives>(attr.cap.max_recv_wr);
}

} // namespace

QueuePair::QueuePair(CompletionQueue& cq, ibv_pd* of, uint32_t number, const ibv_qp_init_attr& attr)
    : VerbsQueuePair{}
    , own_receives_{make_receives(attr)}
    , most_queued_{attr.cap.max_send_wr}
    , most_segments_{static_cast<uint8_t>(attr.cap.max_send_sge)}
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
        const std::lock_guard guard{cq().lock()};
        fail();
    }
    cq().wait_for_datagrams();
    {
        const std::lock_guard guard{cq().lock()};
        if (active_) {
            while (WorkRequest* w = active_->queue.pop_front()) cq().work_requests().give_back(*w);
            while (WorkRequest* w = active_->spent.pop_front()) cq().work_requests().give_back(*w);
            if (active_->on<Stirred>()) List<Activity, Stirred>::erase(*active_);
            rest();
        }
        cq().leave(*this);
    }
    if (ah_) cq().context().device().destroy_ah(ah_);
    if (srq) --static_cast<SharedReceiveQueue*>(srq)->leaning;
}

// Something is to be under way. False: memory is out.
bool QueuePair::rouse() noexcept {
    if (!active_) active_ = cq().activities().create(*this, out_.next());
    return active_ != nullptr;
}

void QueuePair::rest() noexcept {
    if (!active_ || !active_->over()) return;
    if (active_->on<Timed>()) List<Activity, Timed>::erase(*active_);
    cq().activities().destroy(std::exchange(active_, nullptr));
}

int QueuePair::modify(const ibv_qp_attr& attr, int mask) noexcept {
    const std::lock_guard guard{cq().lock()};
    if (mask & IBV_QP_ACCESS_FLAGS) access_ = static_cast<uint8_t>(attr.qp_access_flags);
    if (!(mask & IBV_QP_STATE)) return 0;
    switch (attr.qp_state) {
    case IBV_QPS_INIT:
        if (state != IBV_QPS_RESET) return EINVAL;
        break;
    case IBV_QPS_RTR:
        if (state == IBV_QPS_RTS) return learn_number(attr);
        if (state != IBV_QPS_INIT) return EINVAL;
        if (!(mask & IBV_QP_PATH_MTU)) return EINVAL;
        if (const int error = become_ready_to_receive(attr)) return error;
        break;
    case IBV_QPS_RTS:
        if (state != IBV_QPS_RTR && state != IBV_QPS_RTS) return EINVAL;
        most_reads_ = std::max<uint8_t>(attr.max_rd_atomic, 1);
        break;
    case IBV_QPS_ERR:
        fail();
        if (active_) cq().stir(*active_); // what is under way is told of when it is over
        return 0;
    default:
        return EINVAL;
    }
    state = attr.qp_state;
    if (state == IBV_QPS_RTS && peer_number_ != kNobody) cq().claim(*this);
    return 0;
}

int QueuePair::become_ready_to_receive(const ibv_qp_attr& attr) noexcept {
    if (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > cq().context().port().port_attr.active_mtu)
        return EINVAL;
    most_data_ = static_cast<uint16_t>((128u << attr.path_mtu) - sizeof(Packet));
    ibv_ah_attr way = attr.ah_attr;
    ah_ = cq().context().device().create_ah(pd, &way);
    if (!ah_) return errno ? errno : EINVAL;
    peer_datagrams_ = attr.dest_qp_num;
    peer_number_ = attr.rq_psn; // HostContext::identity
    return 0;
}

// A connection that speaks already is told with which of the other side's it does.
int QueuePair::learn_number(const ibv_qp_attr& attr) noexcept {
    const bool other = peer_number_ != kNobody && peer_number_ != attr.rq_psn;
    if (attr.dest_qp_num != peer_datagrams_ || other) return EINVAL;
    peer_number_ = attr.rq_psn;
    return 0;
}

// Nothing goes out or comes in any more; what is under way is flushed, in its turn.
void QueuePair::fail() noexcept {
    state = IBV_QPS_ERR;
    if (!active_) return;
    if (active_->receiving) give_receive_back();
    active_->early.clear(cq().early_packets());
    while (WorkRequest* w = active_->stream.pop_front()) end(*w, IBV_WC_WR_FLUSH_ERR);
    for (WorkRequest* w = active_->queue.front(); w;
         w = active_->queue.after(*w)) // or for want of an answer
        if (w->status == IBV_WC_SUCCESS && w->lacks_answer()) w->status = IBV_WC_WR_FLUSH_ERR;
    active_->cursor = nullptr;
    active_->reads = 0;
    active_->silence_at = active_->paused_until = UINT64_MAX;
    if (active_->on<Owing>()) List<Activity, Owing>::erase(*active_);
}

} // namespace odrc::host
