// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/completion_queue.hpp"

#include "softrc/async_event.hpp"
#include "softrc/faults.hpp"
#include "softrc/joint_copy.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/served_atomic.hpp"

#include <bit>
#include <cerrno>

namespace odrc::soft {
namespace {

constexpr uint32_t kPatience = 1024; // polls

} // namespace

CompletionChannel* CompletionChannel::create(ibv_context* context) noexcept {
    std::unique_ptr<CompletionChannel> channel{new (std::nothrow) CompletionChannel{}};
    if (!channel) errno = ENOMEM;
    if (!channel || !channel->pipe.ok()) return nullptr;
    channel->context = context;
    channel->fd = channel->pipe.fd();
    return channel.release();
}

OwnCompletionRing::OwnCompletionRing(Process& process, uint32_t entries) noexcept
    : process_{process}
    , bytes_{sizeof(CompletionRing) + entries * (sizeof(CompletionEntry) + sizeof(EntryClaim))} {
    offset_ = process.arena().allocate(bytes_);
    if (offset_ == 0) return;
    auto* ring = process.arena().at<CompletionRing>(offset_);
    ring->entries = entries;
    ring->entry_offset = offset_ + sizeof(CompletionRing);
    ring->claim_offset = ring->entry_offset + entries * sizeof(CompletionEntry);
    view_ = CompletionRingView{process.view(), offset_};
}

OwnCompletionRing::~OwnCompletionRing() {
    if (offset_ != 0) process_.arena().release(offset_, bytes_);
}

CompletionQueue* CompletionQueue::create(Process& process, ibv_context* context, int cqe,
                                         void* cq_context, CompletionChannel* channel,
                                         const EventPipe& events) noexcept {
    std::unique_ptr<CompletionQueue> cq{new (std::nothrow) CompletionQueue{process}};
    errno = ENOMEM;
    if (!cq) return nullptr;
    cq->listed_ = process.completion_queues().add(*cq, cq->index_);
    if (!cq->listed_) return nullptr;
    cq->context = context;
    cq->channel = channel;
    if (channel) ++channel->leaning;
    cq->cq_context = cq_context;
    return cq->add_ring(cqe, events) ? cq.release() : nullptr;
}

CompletionQueue::~CompletionQueue() {
    if (!listed_) return;
    process_.completion_queues().remove(index_);
    if (!channel) return;
    auto* told = static_cast<CompletionChannel*>(channel);
    told->pipe.remove(index_);
    --told->leaning;
}

bool CompletionQueue::add_ring(int entries, const EventPipe& events) noexcept {
    const uint32_t size = std::bit_ceil(static_cast<uint32_t>(entries));
    std::unique_ptr<OwnCompletionRing> added{new (std::nothrow) OwnCompletionRing{process_, size}};
    if (!added || !added->ok()) return false;
    CompletionRing& ring = added->view().shared();
    ring.channel = channel ? static_cast<CompletionChannel*>(channel)->pipe.name()
                           : EventPipe{.inode = 0, .fd = -1};
    ring.token = index_;
    ring.events = events;
    ring.overrun_event = AsyncEvent{EventSource::cq, index_, 0, IBV_EVENT_CQ_ERR}.bits();
    try {
        rings_.push_back(std::move(added));
    } catch (const std::bad_alloc&) {
        return false;
    }
    newest_.store(rings_.back().get(), std::memory_order_release);
    only_.store(rings_.size() == 1 ? rings_.back().get() : nullptr, std::memory_order_release);
    cqe = static_cast<int>(size);
    return true;
}

// Visits the completions that stand in the rings. With the lock held.
template <class F>
void CompletionQueue::each_full(F&& visit) noexcept {
    for (const auto& ring : rings_) {
        const CompletionRingView& view = ring->view();
        const uint64_t begin = ring->position;
        const uint64_t end = view.end(begin);
        for (uint64_t p = begin; p != end; ++p)
            if (view.full(p)) visit(view.entry(p));
    }
}

int CompletionQueue::resize(int entries) noexcept {
    if (entries < 1) return EINVAL;
    {
        std::lock_guard guard{lock_};
        int held = 0;
        each_full([&](const CompletionEntry&) { ++held; });
        if (entries < held) return EINVAL;
        const CompletionRing& now = newest().view().shared();
        const EventPipe events = now.events;
        if (!add_ring(entries, events)) return ENOMEM;
        newest().view().shared().armed = now.armed.load();
    }
    process_.queue_pairs().for_each([this](QueuePair& qp) {
        if (qp.recv_cq == this) qp.receive_queue_moved();
    });
    return 0;
}

int CompletionQueue::poll(int count, ibv_wc* wc) noexcept {
    if (process_.any_stalled()) [[unlikely]]
        process_.retry_stalled();
    if (fault_empties_poll()) return 0;
    const uint32_t polls = polls_.load(std::memory_order_relaxed) + 1;
    polls_.store(polls, std::memory_order_relaxed);
    if (polls % kPatience == 0) [[unlikely]]
        look_for_dead_producers();
    if (looks_empty()) {
        if (process_.is_asked()) [[unlikely]] {
            serve_atomic(process_);
            join_copies(process_);
        }
        return 0;
    }
    std::lock_guard guard{lock_};
    int n = 0;
    for (const auto& ring : rings_) n += poll_ring(*ring, count - n, wc + n);
    return n;
}

// An entry that is claimed and not filled is a moment's matter, unless the producer has died. Of
// connections the agent hears that.
void CompletionQueue::look_for_dead_producers() noexcept {
    std::lock_guard guard{lock_};
    for (const auto& ring : rings_)
        if (ring->view().claimed(ring->position)) process_.request_visitor_check();
}

int CompletionQueue::poll_ring(OwnCompletionRing& ring, int count, ibv_wc* wc) noexcept {
    const CompletionRingView& view = ring.view();
    int n = 0;
    const uint64_t begin = ring.position.load(std::memory_order_relaxed);
    uint64_t position = begin;
    for (; n < count && view.full(position); ++position)
        if (take(view.entry(position), wc[n])) ++n;
    if (position == begin) return 0;
    ring.position.store(position, std::memory_order_relaxed);
    view.take(position);
    return n;
}

// Entries lie in shared memory: what they name must be a work request of ours that is under way.
// What else they say decides nothing that could do harm.
bool CompletionQueue::take(const CompletionEntry& entry, ibv_wc& wc) noexcept {
    const uint8_t opcode = entry.opcode;
    const uint32_t request = entry.request;
    if (opcode == kNoCompletion) return false;
    wc = {};
    wc.status = static_cast<ibv_wc_status>(entry.status);
    wc.opcode = static_cast<ibv_wc_opcode>(opcode);
    wc.byte_len = entry.byte_len;
    wc.imm_data = entry.imm_data;
    wc.qp_num = entry.qp_num;
    wc.src_qp = entry.src_qp;
    wc.wc_flags = entry.flags;
    QueuePair* qp = process_.queue_pairs().find(entry.qp_index);
    if (!qp || qp->qp_num != wc.qp_num) return false;
    if (opcode & kReceiveBit) {
        const auto posted = qp->receives().completed(request);
        if (!posted) return false;
        wc.wr_id = posted->wr_id;
        if (opcode == IBV_WC_RECV && wc.byte_len > posted->room)
            wc.byte_len = static_cast<uint32_t>(posted->room);
        return true;
    }
    const auto id = qp->sent(request);
    wc.wr_id = id.value_or(0);
    return id.has_value();
}

void CompletionQueue::arm(bool solicited_only) noexcept {
    std::lock_guard guard{lock_};
    for (const auto& ring : rings_) {
        std::atomic<uint32_t>& armed = ring->view().shared().armed;
        uint32_t before = kNotArmed;
        // The wider request counts.
        if (solicited_only)
            armed.compare_exchange_strong(before, kArmedSolicited, std::memory_order_seq_cst);
        else
            armed.store(kArmedAny, std::memory_order_seq_cst);
    }
}

void CompletionQueue::push(const Completion& completion, bool solicited) noexcept {
    const CompletionRingView& view = newest().view();
    const CompletionRing& ring = view.shared();
    switch (view.push(completion, 0, solicited)) {
    case CompletionRingView::Push::event:
        return process_.own().raise_event(ring.channel, ring.token);
    case CompletionRingView::Push::overrun:
        return process_.own().raise_event(ring.events, ring.overrun_event);
    default:
        return;
    }
}

void CompletionQueue::purge(QueuePair& qp) noexcept {
    std::lock_guard guard{lock_};
    each_full([&](CompletionEntry& entry) {
        if (entry.opcode == kNoCompletion || entry.qp_num != qp.qp_num) return;
        if (entry.opcode & kReceiveBit) qp.receives().completed(entry.request);
        entry.opcode = kNoCompletion;
    });
}

bool CompletionQueue::recover(QueuePair& qp, uint32_t producer, uint32_t held_request) noexcept {
    std::lock_guard guard{lock_};
    bool stands = false;
    for (const auto& ring : rings_) {
        ring->view().recover(ring->position, producer);
        stands |= ring->view().holds_receive(ring->position, qp.qp_num, held_request);
    }
    return stands;
}

} // namespace odrc::soft
