// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// One work request, carried out by this thread on the peer's memory: what a NIC and its wire
// would do. Statuses are those of IBTA 1.4, 10.10.3.

#include "softrc/copy.hpp"
#include "softrc/queue_pair.hpp"

#include <cerrno>

namespace odrc::soft {
namespace {

// This queue pair is inside an operation on its peer while one of these stands.
class Busy {
public:
    explicit Busy(QpPort& port) noexcept
        : busy_{port.busy} {
        busy_.store(busy_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    }
    ~Busy() { busy_.store(busy_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    std::atomic<uint32_t>& busy_;
};

} // namespace

QueuePair::Outcome QueuePair::carry_out(const ibv_send_wr& wr) noexcept {
    if (!link_) {
        link_ = find_link(destination_);
        if (!link_) return {Verdict::no_peer, {}};
        port_->peer_qp_num = destination_;
    }
    if (link_.process->dead()) return {Verdict::done, IBV_WC_RETRY_EXC_ERR};
    const Busy busy{*port_};
    // Looked at after we are seen to be busy: either the peer waits for us, or we see that it
    // is going.
    const uint32_t there = link_.port->state.load(std::memory_order_seq_cst);
    if (link_.port->qp_num != destination_ || there == kPortClosed || there == IBV_QPS_ERR)
        return {Verdict::done, IBV_WC_RETRY_EXC_ERR};
    if ((there != IBV_QPS_RTR && there != IBV_QPS_RTS) || link_.port->peer_qp_num != qp_num)
        return {Verdict::no_peer, {}};
    return carry_out_on_peer(wr);
}

QueuePair::Outcome QueuePair::carry_out_on_peer(const ibv_send_wr& wr) noexcept {
    iovec data[kMaxSendSegments];
    uint32_t length = 0;
    const int access = wr.opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
    for (int i = 0; i < wr.num_sge; ++i) {
        const ibv_sge& s = wr.sg_list[i];
        Place place{.mapped = nullptr, .address = s.addr, .length = s.length};
        if (!(wr.send_flags & IBV_SEND_INLINE) && s.length > 0 &&
            !find_place(process_.view(), true, s.lkey, pd_number_, s.addr, s.length, access, place))
            return {Verdict::done, IBV_WC_LOC_PROT_ERR};
        data[i] = {reinterpret_cast<void*>(s.addr), s.length};
        length += s.length;
    }
    const std::span<const iovec> all{data, static_cast<size_t>(wr.num_sge)};
    switch (wr.opcode) {
    case IBV_WR_RDMA_READ:
        return read(wr, all, length);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return write(wr, all, length);
    default:
        return send(wr, all, length);
    }
}

QueuePair::Outcome QueuePair::send(const ibv_send_wr& wr, std::span<const iovec> data,
                                   uint32_t length) noexcept {
    ReceiveRingView::Claim claim;
    if (!link_.receives.claim(link_.port->qp_num, port_->holds, claim))
        return {Verdict::no_receive, {}};
    return deliver(claim, wr, length, IBV_WC_RECV, scatter(claim, data, length));
}

QueuePair::Outcome QueuePair::write(const ibv_send_wr& wr, std::span<const iovec> data,
                                    uint32_t length) noexcept {
    const bool immediate = wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    ReceiveRingView::Claim claim;
    if (immediate && !link_.receives.claim(link_.port->qp_num, port_->holds, claim))
        return {Verdict::no_receive, {}};
    ibv_wc_status status = IBV_WC_SUCCESS;
    if (length > 0) { // IBTA 1.4, 9.7.4.1.3: nothing is checked for no bytes
        Place place;
        if (!(link_.port->access & IBV_ACCESS_REMOTE_WRITE) ||
            !find_place(link_.process->arena(), link_.process->own(), wr.wr.rdma.rkey,
                        link_.port->pd, wr.wr.rdma.remote_addr, length, IBV_ACCESS_REMOTE_WRITE,
                        place))
            status = IBV_WC_REM_ACCESS_ERR;
        else if (const int error = copy(*link_.process, Direction::to_peer, data, {&place, 1}))
            status = error == ESRCH ? IBV_WC_RETRY_EXC_ERR : IBV_WC_REM_ACCESS_ERR;
    }
    if (immediate) {
        const bool success = status == IBV_WC_SUCCESS;
        const Outcome outcome = deliver(claim, wr, length, IBV_WC_RECV_RDMA_WITH_IMM,
                                        success ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
        if (success) return outcome;
    }
    return status == IBV_WC_SUCCESS ? Outcome{Verdict::done, status} : refuse(status);
}

QueuePair::Outcome QueuePair::read(const ibv_send_wr& wr, std::span<const iovec> data,
                                   uint32_t length) noexcept {
    if (length == 0) return {Verdict::done, IBV_WC_SUCCESS};
    Place place;
    if (!(link_.port->access & IBV_ACCESS_REMOTE_READ) ||
        !find_place(link_.process->arena(), link_.process->own(), wr.wr.rdma.rkey, link_.port->pd,
                    wr.wr.rdma.remote_addr, length, IBV_ACCESS_REMOTE_READ, place))
        return refuse(IBV_WC_REM_ACCESS_ERR);
    if (const int error = copy(*link_.process, Direction::from_peer, data, {&place, 1}))
        return refuse(error == ESRCH ? IBV_WC_RETRY_EXC_ERR : IBV_WC_REM_ACCESS_ERR);
    return {Verdict::done, IBV_WC_SUCCESS};
}

// Puts the message into the segments of a claimed receive. Gives the receive's status.
ibv_wc_status QueuePair::scatter(const ReceiveRingView::Claim& claim, std::span<const iovec> data,
                                 uint32_t length) noexcept {
    Place places[kMaxReceiveSegments];
    size_t count = 0;
    uint64_t room = 0;
    for (uint32_t i = 0; i < claim.segments && i < kMaxReceiveSegments && room < length; ++i) {
        const Segment s = claim.list[i];
        if (s.length == 0) continue;
        if (!find_place(link_.process->arena(), link_.process->own(), s.lkey, link_.receives.pd(),
                        s.address, s.length, IBV_ACCESS_LOCAL_WRITE, places[count]))
            return IBV_WC_LOC_PROT_ERR;
        room += s.length;
        ++count;
    }
    if (room < length) return IBV_WC_LOC_LEN_ERR;
    switch (copy(*link_.process, Direction::to_peer, data, {places, count})) {
    case 0:
        return IBV_WC_SUCCESS;
    case ESRCH:
        return IBV_WC_RETRY_EXC_ERR;
    default:
        return IBV_WC_LOC_PROT_ERR;
    }
}

// Completes a claimed receive at the peer, and says how the request at our side ended.
QueuePair::Outcome QueuePair::deliver(const ReceiveRingView::Claim& claim, const ibv_send_wr& wr,
                                      uint32_t length, uint8_t opcode,
                                      ibv_wc_status status) noexcept {
    const bool immediate =
        wr.opcode == IBV_WR_SEND_WITH_IMM || wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    const auto pushed = link_.completions.push(
        {.wr_id = claim.wr_id,
         .byte_len = length,
         .imm_data = immediate ? wr.imm_data : 0,
         .qp_num = destination_,
         .qp_index = link_.port->qp_index,
         .request = claim.request,
         .status = static_cast<uint8_t>(status),
         .opcode = opcode,
         .flags = static_cast<uint16_t>(immediate ? IBV_WC_WITH_IMM : 0)},
        destination_, (wr.send_flags & IBV_SEND_SOLICITED) || status != IBV_WC_SUCCESS);
    port_->holds.store(0, std::memory_order_release);
    if (pushed == CompletionRingView::Push::event) {
        const CompletionRing& ring = link_.completions.shared();
        link_.process->raise_event(ring.channel_fd, ring.channel_inode, ring.token);
    }
    if (pushed == CompletionRingView::Push::overrun) return refuse(IBV_WC_REM_OP_ERR);
    switch (status) {
    case IBV_WC_SUCCESS:
        return {Verdict::done, IBV_WC_SUCCESS};
    case IBV_WC_LOC_LEN_ERR:
        return refuse(IBV_WC_REM_INV_REQ_ERR);
    case IBV_WC_LOC_PROT_ERR:
        return refuse(IBV_WC_REM_OP_ERR);
    default:
        return refuse(status);
    }
}

// The request ends badly on the peer's side, which leaves the peer's queue pair in error too.
QueuePair::Outcome QueuePair::refuse(ibv_wc_status status) noexcept {
    uint32_t there = link_.port->state.load(std::memory_order_relaxed);
    if (there == IBV_QPS_RTR || there == IBV_QPS_RTS)
        link_.port->state.compare_exchange_strong(there, IBV_QPS_ERR);
    return {Verdict::done, status};
}

} // namespace odrc::soft
