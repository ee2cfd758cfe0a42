// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The life of a queue pair, and who is at its other end.

#include "softrc/queue_pair.hpp"

#include "softrc/busy.hpp"
#include "softrc/visit.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace odrc::soft {

QueuePair* QueuePair::create(Process& process, ibv_pd* pd, uint32_t pd_number,
                             const EventPipe& events, ibv_qp_init_attr* attr) noexcept {
    ibv_qp_cap& cap = attr->cap;
    const bool known = attr->qp_type == IBV_QPT_RC || attr->qp_type == IBV_QPT_UD;
    if (!known || !attr->send_cq || !attr->recv_cq || cap.max_send_wr > kMaxWorkRequests ||
        cap.max_send_sge > kMaxSendSegments || cap.max_inline_data > kMaxInline ||
        (!attr->srq &&
         (cap.max_recv_wr > kMaxWorkRequests || cap.max_recv_sge > kMaxReceiveSegments))) {
        errno = known ? EINVAL : EOPNOTSUPP;
        return nullptr;
    }
    if (attr->srq) cap.max_recv_wr = cap.max_recv_sge = 0;
    cap.max_inline_data = kMaxInline; // inline costs nothing here: always all of it
    std::unique_ptr<QueuePair> qp{new (std::nothrow) QueuePair{process, pd, pd_number, *attr}};
    if (!qp || !qp->allocate(events)) {
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
    ++send_queue().leaning;
    ++receive_queue().leaning;
    if (srq) ++static_cast<SharedReceiveQueue*>(srq)->leaning;
}

bool QueuePair::allocate(const EventPipe& events) noexcept {
    try {
        send_ids_.resize(std::bit_ceil(std::max(cap_.max_send_wr, 1u)));
    } catch (const std::bad_alloc&) {
        return false;
    }
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
    port_->type = static_cast<uint8_t>(qp_type);
    port_->receive_ring = receives().offset();
    port_->completion_ring = receive_queue().offset();
    port_->events = events;
    const uint32_t number = process_.node().allocate_qp_number(port_offset_);
    // With the table's lock held: the agent looks there.
    process_.queue_pairs().with(index_, [number](QueuePair& qp) { qp.qp_num = number; });
    port_->event = event(ibv_event_type{}).bits();
    port_->qp_num = qp_num;
    return qp_num != 0;
}

QueuePair::~QueuePair() {
    if (port_) port_->state.store(kPortClosed, std::memory_order_seq_cst);
    if (qp_num != 0) process_.node().release_qp_number(qp_num);
    process_.remove_stalled(*this);
    await_sender();
    process_.wait_for_visitors(); // and for those that found us just before: see find_link()
    recover_from_death();
    if (qp_num != 0) {
        send_queue().purge(*this);
        if (recv_cq != send_cq) receive_queue().purge(*this);
    }
    if (listed_) process_.queue_pairs().remove(index_);
    if (port_) process_.arena().release(port_offset_, sizeof(QpPort));
    --send_queue().leaning;
    --receive_queue().leaning;
    if (srq) --static_cast<SharedReceiveQueue*>(srq)->leaning;
}

QueuePair::Link QueuePair::find_link(uint32_t qp_number, ibv_qp_type type) const noexcept {
    Link link;
    if (!reachable_ && type == IBV_QPT_RC) return {};
    const auto place = process_.node().find_qp(qp_number);
    if (!place) return {};
    link.process = process_.peer(*place);
    if (!link.process) {
        if (errno != ESRCH) link.error = errno;
        return link;
    }
    if (link.process->check_dead()) return {};
    // An owner that goes withdraws the number and then waits for its visitors: what can be found
    // after we signed in stays there until we have looked at it.
    const Visit visit{process_.node(), *link.process, qp_number};
    if (!visit || process_.node().find_qp(qp_number) != place) return {};
    const ArenaView& arena = link.process->arena();
    QpPort* port = arena.at<QpPort>(place->port_offset);
    if (!port || port->qp_num != qp_number || port->type != type) return {};
    link.receives = ReceiveRingView{arena, port->receive_ring};
    link.port = port;
    if (!link.receives || !link.refresh()) return {};
    return link;
}

const std::byte* QueuePair::peer_memory(uint64_t address, uint32_t rkey, size_t length) noexcept {
    std::lock_guard guard{lock_};
    if (!is_at_ease() || length > kMaxMessage) return nullptr;
    const Busy busy{*port_};
    Place place;
    if (!peer_is_ready() || find_remote(address, rkey, static_cast<uint32_t>(length),
                                        IBV_ACCESS_REMOTE_WRITE, place) != IBV_WC_SUCCESS)
        return nullptr;
    return place.mapped;
}

bool QueuePair::is_far() noexcept {
    std::lock_guard guard{lock_};
    return is_at_ease() && !link_.process->nearness_of_receives().is_near();
}

std::optional<uint64_t> QueuePair::sent(uint32_t position) noexcept {
    const uint32_t retired = retired_.load(std::memory_order_relaxed);
    if (position - retired - 1 >= posted() - retired) return std::nullopt;
    const uint64_t id = send_ids_[position & (send_ids_.size() - 1)];
    retired_.store(position, std::memory_order_release);
    return id;
}

void QueuePair::wait_for_sender() noexcept {
    if (datagram()) return; // those who send here are visitors of the whole process
    std::lock_guard guard{lock_};
    await_sender();
}

void QueuePair::await_sender() const noexcept {
    if (datagram()) return process_.wait_for_visitors();
    if (!link_) return;
    const uint32_t seen = link_.port->busy.load(std::memory_order_seq_cst);
    if (seen % 2 == 0) return;
    // Over when the sender has left, its queue pair is gone, or its process is.
    while (link_.port->busy.load(std::memory_order_acquire) == seen &&
           link_.port->qp_num == attr_.dest_qp_num && !link_.process->check_dead())
        process_.pause();
}

void QueuePair::peer_died(const PeerProcess& peer) noexcept {
    std::lock_guard guard{lock_};
    if (link_ && link_.process.get() == &peer) recover_from_death();
}

// Once: what the dead peer's port says stays there, but the receive it names lives on.
void QueuePair::recover_from_death() noexcept {
    if (!link_ || link_.recovered || link_.port->qp_num != attr_.dest_qp_num ||
        !link_.process->check_dead())
        return;
    link_.recovered = true;
    recover(qp_num, link_.port->holds.load(std::memory_order_acquire));
    process_.forget_dead_senders();
}

void QueuePair::visitor_died(uint32_t number, uint32_t holds) noexcept { recover(number, holds); }

// What the sender held when it died: a receive claimed and written down, or one caught between
// the two. It ends in error, once, unless its completion already stands.
void QueuePair::recover(uint32_t producer, uint32_t holds) noexcept {
    uint32_t lost = holds ? holds - 1 : kMaxReceives;
    if (receive_queue().recover(*this, producer, lost)) lost = kMaxReceives;
    receives().recover(producer, [&](uint32_t request) { lost = request; });
    if (!receives().outstanding(lost)) return;
    receive_queue().push({.byte_len = 0,
                          .imm_data = 0,
                          .qp_num = qp_num,
                          .src_qp = 0,
                          .qp_index = index_,
                          .request = lost,
                          .status = IBV_WC_WR_FLUSH_ERR,
                          .opcode = IBV_WC_RECV,
                          .flags = 0},
                         true);
}

void QueuePair::broken() noexcept {
    std::lock_guard guard{lock_};
    if (state() != IBV_QPS_ERR) return;
    ibv_qp::state = IBV_QPS_ERR;
    flush();
}

} // namespace odrc::soft
