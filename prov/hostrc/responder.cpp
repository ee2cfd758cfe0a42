// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a packet asks for whose turn it is: what a NIC does at the other end (IBTA 1.4, 9.7).

#include "hostrc/completion_queue.hpp"
#include "hostrc/context.hpp"
#include "hostrc/queue_pair.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace odrc::host {
namespace {

// Writes the data over the pieces, from a byte on.
void scatter(std::span<const ibv_sge> pieces, uint32_t begin,
             std::span<const std::byte> data) noexcept {
    for (const ibv_sge& s : pieces) {
        if (data.empty()) return;
        if (begin >= s.length) {
            begin -= s.length;
            continue;
        }
        const size_t bytes = std::min<size_t>(s.length - begin, data.size());
        std::memcpy(reinterpret_cast<void*>(s.addr + begin), data.data(), bytes);
        data = data.subspan(bytes);
        begin = 0;
    }
}

} // namespace

QueuePair::Verdict QueuePair::carry_out(const Datagrams::Arrival& arrival) noexcept {
    switch (arrival.packet.kind) {
    case PacketKind::send:
        return take_piece(arrival);
    case PacketKind::write:
        return take_write(arrival);
    case PacketKind::read:
        return take_read(arrival.packet);
    case PacketKind::swap:
    case PacketKind::add:
        return take_atomic(arrival);
    case PacketKind::answer:
        return take_answer(arrival);
    default:
        return refuse(IBV_WC_REM_INV_REQ_ERR);
    }
}

QueuePair::Verdict QueuePair::take_piece(const Datagrams::Arrival& arrival) noexcept {
    const Packet& packet = arrival.packet;
    const bool first = packet.flags & kFirst;
    if (first == active_->receiving) return refuse(IBV_WC_REM_INV_REQ_ERR);
    if (first) {
        if (claim_receive() != Verdict::done) return Verdict::not_ready;
        active_->received = 0;
    }
    if (active_->received + arrival.data.size() > active_->receive.length())
        return refuse(IBV_WC_REM_INV_REQ_ERR);
    scatter(std::span{active_->receive.segments}.first(active_->receive.segment_count),
            active_->received, arrival.data);
    active_->received += static_cast<uint32_t>(arrival.data.size());
    if (packet.flags & kLast) complete_receive(packet, IBV_WC_RECV, active_->received);
    return Verdict::done;
}

QueuePair::Verdict QueuePair::take_write(const Datagrams::Arrival& arrival) noexcept {
    const Packet& packet = arrival.packet;
    if (!arrival.data.empty()) { // IBTA 1.4, 9.7.4.1.3: nothing is checked for no bytes
        if (!(access_ & IBV_ACCESS_REMOTE_WRITE)) return refuse(IBV_WC_REM_INV_REQ_ERR);
        // Of what does not fit in whole, nothing is written.
        const uint64_t length = packet.flags & kFirst ? packet.length : arrival.data.size();
        if (!cq().context().regions().find(pd, packet.key, packet.address,
                                           std::max<uint64_t>(length, arrival.data.size()),
                                           IBV_ACCESS_REMOTE_WRITE))
            return refuse(IBV_WC_REM_ACCESS_ERR);
        if (is_being_read(packet.address, arrival.data.size())) return Verdict::not_ready;
    }
    const bool completes = (packet.flags & kLast) && (packet.flags & kImmediate);
    if (completes && claim_receive() != Verdict::done) return Verdict::not_ready;
    if (!arrival.data.empty())
        std::memcpy(reinterpret_cast<void*>(packet.address), arrival.data.data(),
                    arrival.data.size());
    if (completes) complete_receive(packet, IBV_WC_RECV_RDMA_WITH_IMM, packet.length);
    return Verdict::done;
}

QueuePair::Verdict QueuePair::take_read(const Packet& packet) noexcept {
    if (packet.length == 0) return Verdict::done;
    if (!(access_ & IBV_ACCESS_REMOTE_READ) || packet.length > kMostMessage)
        return refuse(IBV_WC_REM_INV_REQ_ERR);
    const auto region = cq().context().regions().find(pd, packet.key, packet.address, packet.length,
                                                      IBV_ACCESS_REMOTE_READ);
    if (!region) return refuse(IBV_WC_REM_ACCESS_ERR);
    WorkRequest* answer = cq().work_requests().take();
    if (!answer) return Verdict::not_ready;
    if (packet.length <= kInline) {
        std::memcpy(answer->own.data(), reinterpret_cast<const void*>(packet.address),
                    packet.length);
        answer->point_to_own(packet.length);
        answer->key = 0;
    } else {
        answer->segments[0] = {
            .addr = packet.address, .length = packet.length, .lkey = region->lkey};
        answer->segment_count = 1;
        answer->length = packet.length;
        answer->address = packet.address;
        answer->key = packet.key;
        ++active_->open_answers;
    }
    queue_answer(*answer);
    return Verdict::done;
}

// What is read is what was there before later writes: these wait until it has arrived, for it may
// have to be sent again.
bool QueuePair::is_being_read(uint64_t address, uint64_t length) noexcept {
    if (active_->open_answers == 0) return false;
    for (WorkRequest* w = active_->stream.front(); w; w = active_->stream.after(*w))
        if (w->is_open_answer() && address < w->address + w->length &&
            w->address < address + length)
            return true;
    return false;
}

QueuePair::Verdict QueuePair::take_atomic(const Datagrams::Arrival& arrival) noexcept {
    const Packet& packet = arrival.packet;
    uint64_t operands[2];
    if (!(access_ & IBV_ACCESS_REMOTE_ATOMIC) || packet.address % sizeof(uint64_t) != 0 ||
        arrival.data.size() != sizeof operands)
        return refuse(IBV_WC_REM_INV_REQ_ERR);
    if (!cq().context().regions().find(pd, packet.key, packet.address, sizeof(uint64_t),
                                       IBV_ACCESS_REMOTE_ATOMIC))
        return refuse(IBV_WC_REM_ACCESS_ERR);
    if (is_being_read(packet.address, sizeof(uint64_t))) return Verdict::not_ready;
    WorkRequest* answer = cq().work_requests().take();
    if (!answer) return Verdict::not_ready;
    std::memcpy(operands, arrival.data.data(), sizeof operands);
    std::atomic_ref value{*reinterpret_cast<uint64_t*>(packet.address)};
    uint64_t found = operands[0];
    if (packet.kind == PacketKind::add)
        found = value.fetch_add(operands[0]);
    else
        value.compare_exchange_strong(found, operands[1]);
    std::memcpy(answer->own.data(), &found, sizeof found);
    answer->point_to_own(sizeof found);
    answer->key = 0;
    queue_answer(*answer);
    return Verdict::done;
}

// It goes behind other answers, but before what of the program's has not begun: two sides, each of
// which waits for answers before it begins the next, would wait for ever.
void QueuePair::queue_answer(WorkRequest& w) noexcept {
    w.kind = PacketKind::answer;
    WorkRequest* behind = next_to_send();
    while (behind && (behind->started || behind->kind == PacketKind::answer))
        behind = active_->stream.after(*behind);
    if (behind) {
        List<WorkRequest, InStream>::insert_before(w, *behind);
        if (active_->cursor == behind) active_->cursor = &w;
    } else {
        active_->stream.push_back(w);
    }
    cq().stir(*active_);
}

// To what was asked first of all that has no whole answer yet.
QueuePair::Verdict QueuePair::take_answer(const Datagrams::Arrival& arrival) noexcept {
    WorkRequest* asked = active_->queue.front();
    while (asked && !asked->lacks_answer()) asked = active_->queue.after(*asked);
    if (!asked || !asked->started || arrival.data.size() > asked->length - asked->answered)
        return refuse(IBV_WC_REM_INV_REQ_ERR);
    scatter(std::span{asked->segments}.first(asked->segment_count), asked->answered, arrival.data);
    asked->answered += static_cast<uint32_t>(arrival.data.size());
    if (!asked->lacks_answer()) {
        --active_->reads;
        cq().stir(*active_);
    }
    return Verdict::done;
}

QueuePair::Verdict QueuePair::claim_receive() noexcept {
    bool runs_low = false;
    if (!receives().take(active_->receive, runs_low)) return Verdict::not_ready;
    active_->receiving = true;
    if (runs_low && srq) cq().context().raise_limit(*srq);
    return Verdict::done;
}

void QueuePair::complete_receive(const Packet& packet, ibv_wc_opcode opcode,
                                 uint32_t length) noexcept {
    ibv_wc wc{};
    wc.wr_id = active_->receive.wr_id;
    wc.status = IBV_WC_SUCCESS;
    wc.opcode = opcode;
    wc.byte_len = length;
    wc.qp_num = qp_num;
    wc.src_qp = peer_number_;
    if (packet.flags & kImmediate) {
        wc.wc_flags = IBV_WC_WITH_IMM;
        wc.imm_data = packet.immediate;
    }
    receives().done();
    active_->receiving = false;
    cq().push(wc);
}

void QueuePair::give_receive_back() noexcept {
    receives().put_back(active_->receive);
    active_->receiving = false;
}

// The connection is over, and says why whenever it is spoken to.
QueuePair::Verdict QueuePair::refuse(ibv_wc_status status) noexcept {
    refusal_ = static_cast<uint8_t>(status);
    say(PacketKind::refused, 0);
    fail();
    cq().stir(*active_);
    return Verdict::refused;
}

int QueuePair::post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
    if (own_receives_) return own_receives_->post(wr, bad);
    *bad = wr;
    return EINVAL;
}

} // namespace odrc::host
