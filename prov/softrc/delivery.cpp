// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What happens at the receiver's side of a send, by the sender's hand.

#include "softrc/copy.hpp"
#include "softrc/faults.hpp"
#include "softrc/opcodes.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/transitions.hpp"

#include <cerrno>

namespace odrc::soft {

// Puts the message into the segments of a claimed receive. Gives the receive's status.
ibv_wc_status QueuePair::scatter(const Link& to, const ReceiveRingView::Claim& claim,
                                 std::span<const iovec> data, uint32_t length) noexcept {
    Place places[kMaxReceiveSegments];
    size_t count = 0;
    uint64_t room = 0;
    for (uint32_t i = 0; i < claim.segments && i < kMaxReceiveSegments && room < length; ++i) {
        const Segment s = claim.list[i];
        if (s.length == 0) continue;
        if (!find_place(to.process->arena(), to.process->own(), s.lkey, to.receives.pd(), s.address,
                        s.length, IBV_ACCESS_LOCAL_WRITE, places[count]))
            return IBV_WC_LOC_PROT_ERR;
        room += s.length;
        ++count;
    }
    if (room < length) return IBV_WC_LOC_LEN_ERR;
    if (count > 0 && places[0].mapped && to.process->may_have_new_pages())
        find_pages(places[0].mapped, 1);
    switch (copy(process_, *to.process, Direction::to_peer, data, {places, count})) {
    case 0:
        return IBV_WC_SUCCESS;
    case ESRCH:
        return IBV_WC_RETRY_EXC_ERR;
    default:
        return IBV_WC_LOC_PROT_ERR;
    }
}

// Puts a completion into the receiver's queue, and raises the events that go with it. False when
// the queue was full.
bool QueuePair::push(const Link& to, const Completion& completion, uint32_t producer,
                     bool solicited) noexcept {
    const auto pushed = to.completions.push(completion, producer, solicited);
    const CompletionRing& ring = to.completions.shared();
    if (pushed == CompletionRingView::Push::event)
        to.process->raise_event(ring.channel, ring.token);
    else if (pushed == CompletionRingView::Push::overrun)
        to.process->raise_event(ring.events, ring.overrun_event);
    if (to.receives.limit_reached()) [[unlikely]]
        to.process->raise_event(to.receives.shared().events, to.receives.shared().limit_event);
    return pushed != CompletionRingView::Push::overrun;
}

// The receiver's queue pair has had a request that it must not survive.
void QueuePair::put_in_error(const Link& to, ibv_event_type why) noexcept {
    uint32_t there = to.port->state.load(std::memory_order_relaxed);
    if (!takes_in(there)) return;
    if (!to.port->state.compare_exchange_strong(there, IBV_QPS_ERR)) return;
    to.process->raise_event(to.port->events, to.port->event | static_cast<uint64_t>(why));
    // Its own agent flushes its queues.
    to.process->raise_event(to.process->arena().header().agent, to.port->event);
}

// Completes a claimed receive at the peer, and says how the request at our side ended.
QueuePair::Outcome QueuePair::deliver(const ReceiveRingView::Claim& claim, const ibv_send_wr& wr,
                                      uint32_t length, uint8_t opcode,
                                      ibv_wc_status status) noexcept {
    const bool immediate = what_is(wr.opcode).immediate;
    const bool room =
        push(link_,
             {.byte_len = length,
              .imm_data = immediate ? wr.imm_data : 0,
              .qp_num = attr_.dest_qp_num,
              .src_qp = qp_num,
              .qp_index = link_.port->qp_index,
              .request = claim.request,
              .status = static_cast<uint8_t>(status),
              .opcode = opcode,
              .flags = static_cast<uint16_t>(immediate ? IBV_WC_WITH_IMM : 0)},
             attr_.dest_qp_num, (wr.send_flags & IBV_SEND_SOLICITED) || status != IBV_WC_SUCCESS);
    port_->holds.store(0, std::memory_order_release);
    link_.receives.prefetch();
    if (!room) return refuse(IBV_WC_REM_OP_ERR);
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

QueuePair::Outcome QueuePair::send(const ibv_send_wr& wr, const Data& data) noexcept {
    ReceiveRingView::Claim claim;
    if (fault_finds_no_receive() || !link_.receives.claim(attr_.dest_qp_num, port_->holds, claim))
        return {Verdict::no_receive, {}};
    return deliver(claim, wr, data.length, IBV_WC_RECV,
                   scatter(link_, claim, data.pieces, data.length));
}

} // namespace odrc::soft
