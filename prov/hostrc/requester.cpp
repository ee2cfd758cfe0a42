// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What goes out over a connection, in its order, and what is heard of it.

#include "hostrc/completion_queue.hpp"
#include "hostrc/context.hpp"
#include "hostrc/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace odrc::host {
namespace {

struct Operation {
    PacketKind kind;
    ibv_wc_opcode done;
};

// None: it is not for such a connection.
bool operation_of(ibv_wr_opcode opcode, Operation& out) noexcept {
    switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
        out = {PacketKind::send, IBV_WC_SEND};
        return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        out = {PacketKind::write, IBV_WC_RDMA_WRITE};
        return true;
    case IBV_WR_RDMA_READ:
        out = {PacketKind::read, IBV_WC_RDMA_READ};
        return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        out = {PacketKind::swap, IBV_WC_COMP_SWAP};
        return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        out = {PacketKind::add, IBV_WC_FETCH_ADD};
        return true;
    default:
        return false;
    }
}

// The operands of a swap or an add go where another's data would.
void take_operands(WorkRequest& w, const ibv_send_wr& wr) noexcept {
    const uint64_t operands[] = {wr.wr.atomic.compare_add, wr.wr.atomic.swap};
    std::memcpy(w.own.data(), operands, sizeof operands);
    w.address = wr.wr.atomic.remote_addr;
    w.key = wr.wr.atomic.rkey;
}

void take_inline(WorkRequest& w, const ibv_send_wr& wr) noexcept {
    uint32_t bytes = 0;
    for (int i = 0; i < wr.num_sge; ++i) {
        const ibv_sge& s = wr.sg_list[i];
        if (s.length > 0)
            std::memcpy(w.own.data() + bytes, reinterpret_cast<const void*>(s.addr), s.length);
        bytes += s.length;
    }
    w.point_to_own(bytes);
}

} // namespace

int QueuePair::post_send(ibv_send_wr* wr, ibv_send_wr** bad) noexcept {
    const std::lock_guard guard{cq().lock()};
    int error = rouse() ? 0 : ENOMEM;
    for (; wr && !error; wr = error ? wr : wr->next) error = accept(*wr);
    if (error) *bad = wr;
    if (active_) {
        if (!tend()) cq().stir(*active_);
        rest();
    }
    return error;
}

int QueuePair::accept(const ibv_send_wr& wr) noexcept {
    if (state != IBV_QPS_RTS && state != IBV_QPS_ERR) return EINVAL;
    Operation op;
    if (!operation_of(wr.opcode, op)) return EINVAL;
    if (static_cast<uint32_t>(wr.num_sge) > most_segments_) return EINVAL;
    uint64_t length = 0;
    for (int i = 0; i < wr.num_sge; ++i) length += wr.sg_list[i].length;
    const bool inlined = wr.send_flags & IBV_SEND_INLINE;
    const bool atomic = op.kind == PacketKind::swap || op.kind == PacketKind::add;
    if (length > kMostMessage || (inlined && length > kInline) ||
        (atomic && length != sizeof(uint64_t)))
        return EINVAL;
    if (active_->queued == most_queued_) return ENOMEM;
    WorkRequest* w = cq().work_requests().take();
    if (!w) return ENOMEM;

    w->kind = op.kind;
    w->completes_as = op.done;
    w->wr_id = wr.wr_id;
    w->signaled = signal_all_ || wr.send_flags & IBV_SEND_SIGNALED;
    w->fenced = wr.send_flags & IBV_SEND_FENCE;
    w->immediate_given =
        wr.opcode == IBV_WR_SEND_WITH_IMM || wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    w->immediate = wr.imm_data;
    if (inlined) {
        take_inline(*w, wr);
    } else {
        w->segment_count = static_cast<uint32_t>(wr.num_sge);
        std::copy_n(wr.sg_list, w->segment_count, w->segments.begin());
        w->length = static_cast<uint32_t>(length);
    }
    if (w->is_atomic()) {
        take_operands(*w, wr);
    } else if (op.kind != PacketKind::send) {
        w->address = wr.wr.rdma.remote_addr;
        w->key = wr.wr.rdma.rkey;
    }
    ++active_->queued;
    active_->queue.push_back(*w);
    if (state == IBV_QPS_ERR)
        end(*w, IBV_WC_WR_FLUSH_ERR);
    else
        active_->stream.push_back(*w);
    return 0;
}

bool QueuePair::tend() noexcept {
    const bool sent = send_all();
    return complete() && sent;
}

// False: the device has no room for more now.
bool QueuePair::send_all() noexcept {
    while (alive() && out_.open() && active_->paused_until == UINT64_MAX) {
        WorkRequest* w = next_to_send();
        if (!w || (!w->started && !start(*w))) return true;
        if (!cq().datagrams().has_room()) return false;
        if (!send_piece(*w)) return true;
    }
    return true;
}

// Whose is the number that goes out next; or the first that has none yet; or null.
WorkRequest* QueuePair::next_to_send() noexcept {
    if (!active_->cursor) active_->cursor = active_->stream.front();
    if (!active_->cursor) return nullptr;
    while (active_->cursor->started && !is_before(out_.next(), active_->cursor->end())) {
        WorkRequest* next = active_->stream.after(*active_->cursor);
        if (!next) return nullptr;
        active_->cursor = next;
    }
    return active_->cursor;
}

// Its packets get their numbers. False: it has to wait, or may not go.
bool QueuePair::start(WorkRequest& w) noexcept {
    const bool asks = w.asks_for_answer();
    if ((w.fenced && active_->reads > 0) || (asks && active_->reads >= most_reads_)) return false;
    if (w.kind != PacketKind::answer && !may_use_memory(w)) {
        give_up(&w, IBV_WC_LOC_PROT_ERR);
        return false;
    }
    const uint32_t most = most_data_;
    w.first = active_->assigned;
    w.packets = asks || w.length == 0 ? 1 : (w.length + most - 1) / most;
    active_->assigned = w.end();
    w.started = true;
    active_->reads += asks;
    return true;
}

bool QueuePair::may_use_memory(const WorkRequest& w) const noexcept {
    if (w.segment_count == 1 && w.segments[0].lkey == w.own_key) return true;
    if (cq().context().shared()) return true;
    const int access = w.asks_for_answer() ? IBV_ACCESS_LOCAL_WRITE : 0;
    return std::ranges::all_of(std::span{w.segments}.first(w.segment_count), [&](const auto& s) {
        return cq().context().regions().has(pd, s, access);
    });
}

Packet QueuePair::make_packet(PacketKind kind, uint32_t number, Ticks now) noexcept {
    if (active_->on<Owing>()) List<Activity, Owing>::erase(*active_);
    return {.to = peer_number_,
            .from = qp_num,
            .number = number,
            .acknowledged = in_.expected(),
            .version = kPacketVersion,
            .kind = kind,
            .flags = 0,
            .status = 0,
            .immediate = 0,
            .key = 0,
            .length = 0,
            .address = 0,
            .sent = stamp_of(now),
            .echo = in_.pay()};
}

// False: it cannot go any more, and the connection is over.
bool QueuePair::send_piece(WorkRequest& w) noexcept {
    const uint32_t index = out_.next() - w.first;
    const uint32_t most = most_data_;
    const bool last = index + 1 == w.packets;
    // What an answer is taken from must still be open to the peer.
    if (w.is_open_answer() &&
        !cq().context().regions().find(pd, w.key, w.address, w.length, IBV_ACCESS_REMOTE_READ)) {
        refuse(IBV_WC_REM_ACCESS_ERR);
        return false;
    }
    ibv_sge pieces[kSegments];
    uint32_t count = 0;
    if (w.is_atomic()) {
        pieces[count++] = {.addr = reinterpret_cast<uint64_t>(w.own.data()),
                           .length = 2 * sizeof(uint64_t),
                           .lkey = w.own_key};
    } else if (w.kind != PacketKind::read) {
        const uint32_t begin = index * most;
        count = slice(w, begin, std::min(most, w.length - begin), pieces);
    }

    const Ticks now = ticks_now();
    Packet p = make_packet(w.kind, out_.next(), now);
    // Who waits for the end of a write waits for nothing else.
    const bool awaited = last && w.signaled && w.kind == PacketKind::write;
    p.flags = static_cast<uint8_t>((index == 0 ? kFirst : 0) | (last ? kLast : 0) |
                                   (w.immediate_given ? kImmediate : 0) |
                                   (awaited || out_.asks() ? kAsks : 0));
    p.immediate = w.immediate;
    p.key = w.key;
    p.length = w.length;
    p.address = w.address + (w.kind == PacketKind::write ? uint64_t{index} * most : 0);
    const uint64_t datagram = cq().datagrams().send(ah_, peer_datagrams_, p, {pieces, count});
    w.last_datagram = std::max(w.last_datagram, datagram);

    cq().count().packets_repeated += out_.repeats();
    out_.send();
    if (active_->silence_at == UINT64_MAX) await_answer(now);
    return true;
}

// Tells the program what is over, in its order. False: the device has not let go of something.
bool QueuePair::complete() noexcept {
    while (WorkRequest* w = active_->spent.front()) {
        if (!cq().datagrams().over(w->last_datagram)) break;
        active_->spent.pop_front();
        cq().work_requests().give_back(*w);
    }
    while (WorkRequest* w = active_->queue.front()) {
        if (!w->ended || (w->status == IBV_WC_SUCCESS && w->lacks_answer())) break;
        if (!cq().datagrams().over(w->last_datagram)) return false;
        complete_one(*w);
    }
    return active_->spent.empty();
}

void QueuePair::complete_one(WorkRequest& w) noexcept {
    if (w.signaled || w.status != IBV_WC_SUCCESS) {
        ibv_wc wc{};
        wc.wr_id = w.wr_id;
        wc.status = w.status;
        wc.opcode = w.completes_as;
        wc.byte_len = w.asks_for_answer() ? w.length : 0;
        wc.qp_num = qp_num;
        cq().push(wc);
    }
    active_->queue.pop_front();
    --active_->queued;
    cq().work_requests().give_back(w);
}

// It is in the stream no more.
void QueuePair::end(WorkRequest& w, ibv_wc_status status) noexcept {
    w.ended = true;
    if (w.asks_for_answer() && w.length == 0) --active_->reads; // it has none
    if (w.is_open_answer()) --active_->open_answers;
    if (w.kind == PacketKind::answer)
        active_->spent.push_back(w);
    else if (w.status == IBV_WC_SUCCESS)
        w.status = status;
}

} // namespace odrc::host
