// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// One work request of a connection, carried out by this thread on the peer's memory: what a NIC
// and its wire would do. Statuses are those of IBTA 1.4, 10.10.3.

#include "softrc/atomic_lock.hpp"
#include "softrc/busy.hpp"
#include "softrc/copy.hpp"
#include "softrc/faults.hpp"
#include "softrc/opcodes.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/served_atomic.hpp"
#include "softrc/transitions.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace odrc::soft {
namespace {

Change change_of(const ibv_send_wr& wr) noexcept {
    const auto& atomic = wr.wr.atomic;
    if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        return {.compares = false, .operand = atomic.compare_add, .compared = 0};
    return {.compares = true, .operand = atomic.swap, .compared = atomic.compare_add};
}

uint64_t change_shared(std::atomic_ref<uint64_t> value, const Change& change) noexcept {
    uint64_t found = value.load(std::memory_order_relaxed);
    while (!value.compare_exchange_weak(found, change.result(found))) {
    }
    return found;
}

} // namespace

// Checks the pieces against the regions that they should lie in, and finds them there.
bool QueuePair::find_registered(const ibv_send_wr& wr, iovec* pieces) noexcept {
    const int access = what_is(wr.opcode).brings_data ? IBV_ACCESS_LOCAL_WRITE : 0;
    for (int i = 0; i < wr.num_sge; ++i) {
        const ibv_sge& s = wr.sg_list[i];
        if (s.length == 0) continue;
        Place place;
        if (!find_place(process_.view(), true, s.lkey, pd_number_, s.addr, s.length, access, place))
            return false;
        pieces[i].iov_base = place.mapped;
    }
    return true;
}

QueuePair::Outcome QueuePair::carry_out(const ibv_send_wr& wr, uint32_t length) noexcept {
    iovec pieces[kMaxSendSegments];
    for (int i = 0; i < wr.num_sge; ++i)
        pieces[i] = {reinterpret_cast<void*>(wr.sg_list[i].addr), wr.sg_list[i].length};
    if (!(wr.send_flags & IBV_SEND_INLINE) && !find_registered(wr, pieces))
        return {Verdict::done, IBV_WC_LOC_PROT_ERR};
    const Data data{{pieces, static_cast<size_t>(wr.num_sge)}, length};
    if (datagram()) return send_datagram(wr, data);
    if (!link_) {
        link_ = find_link(attr_.dest_qp_num, IBV_QPT_RC);
        if (!link_) return {Verdict::no_peer, {}};
        let_in_sender();
    }
    if (link_.process->dead()) return {Verdict::gone, {}};
    const Busy busy{*port_};
    const uint32_t there = link_.port->state.load(std::memory_order_seq_cst);
    if (link_.port->qp_num != attr_.dest_qp_num || there == kPortClosed || there == IBV_QPS_ERR)
        return {Verdict::gone, {}};
    if (!takes_in(there) || link_.port->sender != name()) return {Verdict::no_peer, {}};
    if (!link_.refresh()) return {Verdict::done, IBV_WC_RETRY_EXC_ERR};
    if (there == IBV_QPS_RTR && !link_.port->established.exchange(true)) [[unlikely]]
        link_.process->raise_event(link_.port->events,
                                   link_.port->event | uint64_t{IBV_EVENT_COMM_EST});
    const bool may_break = attr_.dest_qp_num != qp_num; // else it is nobody's but ours
    if (may_break && fault_breaks()) return refuse(IBV_WC_RETRY_EXC_ERR);
    const Outcome outcome = carry_out_there(wr, data);
    if (outcome.verdict == Verdict::done && outcome.status == IBV_WC_SUCCESS && may_break &&
        fault_loses_answer())
        return refuse(IBV_WC_RETRY_EXC_ERR);
    return outcome;
}

QueuePair::Outcome QueuePair::carry_out_there(const ibv_send_wr& wr, const Data& data) noexcept {
    switch (wr.opcode) {
    case IBV_WR_RDMA_READ:
        return read(wr, data);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return write(wr, data);
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return atomic(wr, data);
    default:
        return send(wr, data);
    }
}

QueuePair::Outcome QueuePair::write(const ibv_send_wr& wr, const Data& data) noexcept {
    const bool immediate = wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if (data.length > 0) { // IBTA 1.4, 9.7.4.1.3: nothing is checked for no bytes
        Place place;
        if (const auto status = find_remote(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, data.length,
                                            IBV_ACCESS_REMOTE_WRITE, place);
            status != IBV_WC_SUCCESS)
            return refuse(status);
        if (const int error =
                copy(process_, *link_.process, Direction::to_peer, data.pieces, {&place, 1}))
            return refuse(status_of(error));
    }
    if (!immediate) return {Verdict::done, IBV_WC_SUCCESS};
    ReceiveRingView::Claim claim;
    if (!link_.receives.claim(attr_.dest_qp_num, port_->holds, claim))
        return {Verdict::no_receive, {}}; // and the bytes are written again with the next try
    return deliver(claim, wr, data.length, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_SUCCESS);
}

QueuePair::Outcome QueuePair::read(const ibv_send_wr& wr, const Data& data) noexcept {
    if (data.length == 0) return {Verdict::done, IBV_WC_SUCCESS};
    Place place;
    if (const auto status = find_remote(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, data.length,
                                        IBV_ACCESS_REMOTE_READ, place);
        status != IBV_WC_SUCCESS)
        return refuse(status);
    if (const int error =
            copy(process_, *link_.process, Direction::from_peer, data.pieces, {&place, 1}))
        return refuse(status_of(error));
    return {Verdict::done, IBV_WC_SUCCESS};
}

// What an atomic operation is on, if it may be.
ibv_wc_status QueuePair::find_word(const ibv_send_wr& wr, Place& place) const noexcept {
    const uint64_t address = wr.wr.atomic.remote_addr;
    if (address % sizeof(uint64_t) != 0) return IBV_WC_REM_INV_REQ_ERR;
    return find_remote(address, wr.wr.atomic.rkey, sizeof(uint64_t), IBV_ACCESS_REMOTE_ATOMIC,
                       place);
}

QueuePair::Outcome QueuePair::atomic(const ibv_send_wr& wr, const Data& data) noexcept {
    Place place;
    if (const auto status = find_word(wr, place); status != IBV_WC_SUCCESS) return refuse(status);
    uint64_t found = 0;
    if (const int error = change(change_of(wr), place, found)) return refuse(status_of(error));
    const auto* from = reinterpret_cast<const std::byte*>(&found);
    for (const iovec& v : data.pieces) {
        std::memcpy(v.iov_base, from, v.iov_len);
        from += v.iov_len;
    }
    return {Verdict::done, IBV_WC_SUCCESS};
}

// What goes wrong with certainty that nothing was done goes wrong again the long way, which says
// how.
int QueuePair::send_at_once(const ibv_send_wr& wr) noexcept {
    const uint64_t length = length_of(wr);
    if (kFaults || !is_at_ease() || static_cast<uint32_t>(wr.num_sge) > cap_.max_send_sge ||
        length > kMaxMessage)
        return EAGAIN;
    const Outcome outcome = carry_out(wr, static_cast<uint32_t>(length));
    if (outcome.verdict != Verdict::done || outcome.status == IBV_WC_LOC_PROT_ERR) return EAGAIN;
    return outcome.status == IBV_WC_SUCCESS ? 0 : EIO;
}

int QueuePair::change_at_once(const ibv_send_wr& wr) noexcept {
    if (kFaults || !is_at_ease()) return EAGAIN;
    const Busy busy{*port_};
    Place place;
    if (!peer_is_ready() || find_word(wr, place) != IBV_WC_SUCCESS) return EAGAIN;
    uint64_t found = 0;
    if (const int error = change(change_of(wr), place, found)) return error == ESRCH ? EIO : EAGAIN;
    std::memcpy(reinterpret_cast<void*>(wr.sg_list->addr), &found, sizeof found);
    return 0;
}

// Memory that all processes see is changed by the processor; private memory under a lock, by its
// owner, or read and written. Either way whoever looks at the word meanwhile sees it whole. Gives 0
// or an errno as copy_pieces() does.
int QueuePair::change(const Change& change, const Place& place, uint64_t& found) noexcept {
    if (!place.mapped) return change_private(change, place, found);
    found = place.shared
                ? change_shared(std::atomic_ref{*reinterpret_cast<uint64_t*>(place.mapped)}, change)
                : change_own(process_, place, change);
    return 0;
}

// A word of another process's.
int QueuePair::change_private(const Change& change, const Place& place, uint64_t& found) noexcept {
    if (const auto error = ask_for_atomic(process_, *link_.process, change, place, found))
        return *error;
    const AtomicLock lock{process_.node(), link_.process->arena().header(), place.address};
    const iovec old{&found, sizeof found};
    if (const int error =
            copy(process_, *link_.process, Direction::from_peer, {&old, 1}, {&place, 1}))
        return error;
    uint64_t value = change.result(found);
    const iovec next{&value, sizeof value};
    return copy(process_, *link_.process, Direction::to_peer, {&next, 1}, {&place, 1});
}

// The request ends badly on the peer's side, which leaves the peer's queue pair in error too.
QueuePair::Outcome QueuePair::refuse(ibv_wc_status status) noexcept {
    put_in_error(link_, status == IBV_WC_REM_ACCESS_ERR    ? IBV_EVENT_QP_ACCESS_ERR
                        : status == IBV_WC_REM_INV_REQ_ERR ? IBV_EVENT_QP_REQ_ERR
                                                           : IBV_EVENT_QP_FATAL);
    return {Verdict::done, status};
}

} // namespace odrc::soft
