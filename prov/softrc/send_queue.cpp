// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The order of a send queue: what is carried out at once, what waits, and how it all ends.

#include "softrc/opcodes.hpp"
#include "softrc/queue_pair.hpp"

#include <cerrno>
#include <utility>

namespace odrc::soft {
namespace {

// IBTA 1.4, table 45: the RNR NAK timer codes, in units of 10 us.
constexpr uint32_t kRnrTimer[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                    16,    24,   32,   48,    64,    96,    128,   192,
                                    256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                    4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
constexpr uint8_t kRetryForever = 7;

} // namespace

int QueuePair::accept(const ibv_send_wr& wr) noexcept {
    const uint32_t now = state();
    if (now == IBV_QPS_RESET || now == IBV_QPS_INIT || now == IBV_QPS_RTR) return EINVAL;
    const Opcode& op = what_is(wr.opcode);
    if (!(datagram() ? op.of_ud : op.of_rc)) return EINVAL;
    // A number below zero is a very large one.
    if (static_cast<uint32_t>(wr.num_sge) > cap_.max_send_sge) return EINVAL;
    const uint64_t length = length_of(wr);
    if (length > kMaxMessage || (op.atomic && length != sizeof(uint64_t))) return EINVAL;
    if (wr.send_flags & IBV_SEND_INLINE && (length > cap_.max_inline_data || op.brings_data))
        return EINVAL;
    if (!has_room()) return ENOMEM;

    const uint32_t position = posted() + 1;
    if (now == IBV_QPS_ERR || now == IBV_QPS_SQE) {
        if (now == IBV_QPS_ERR) flush(); // what waits goes first
        posted_.store(position, std::memory_order_relaxed);
        complete(wr, position, IBV_WC_WR_FLUSH_ERR);
        return 0;
    }
    if (waiting_.empty() && now != IBV_QPS_SQD) {
        const Outcome outcome = carry_out(wr, static_cast<uint32_t>(length));
        if (outcome.verdict == Verdict::done) {
            conclude(wr, outcome.status);
            return 0;
        }
        if (outcome.verdict == Verdict::no_receive) process_.count_rnr_nak();
        if (const int error = keep(wr, position, outcome.verdict)) return error;
    } else if (const int error = keep(wr, position, Verdict::done)) {
        return error;
    }
    posted_.store(position, std::memory_order_relaxed);
    return 0;
}

// Copies the work request and all it points to that the caller may take back.
int QueuePair::keep(const ibv_send_wr& wr, uint32_t position, Verdict why) noexcept {
    try {
        Waiting w{.wr = wr, .position = position, .why = why, .segments = {}, .inline_data = {}};
        w.segments.assign(wr.sg_list, wr.sg_list + wr.num_sge);
        if (wr.send_flags & IBV_SEND_INLINE) {
            for (const ibv_sge& s : w.segments) {
                const auto* data = reinterpret_cast<const std::byte*>(s.addr);
                w.inline_data.insert(w.inline_data.end(), data, data + s.length);
            }
        }
        w.deadline = deadline_of(why);
        waiting_.push_back(std::move(w));
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
    Waiting& kept = waiting_.back();
    kept.wr.next = nullptr;
    if (wr.send_flags & IBV_SEND_INLINE) {
        kept.segments.assign(1, {.addr = reinterpret_cast<uint64_t>(kept.inline_data.data()),
                                 .length = static_cast<uint32_t>(kept.inline_data.size()),
                                 .lkey = 0});
    }
    kept.wr.sg_list = kept.segments.data();
    kept.wr.num_sge = static_cast<int>(kept.segments.size());
    resume();
    return 0;
}

// Sees to it that what waits is tried.
void QueuePair::resume() noexcept {
    if (stalled_ || !goes_on()) return;
    stalled_ = true;
    process_.add_stalled(*this);
}

// Whether the work request that waits longest may be tried. A send queue that drains carries on
// the one it has begun.
bool QueuePair::goes_on() const noexcept {
    return !waiting_.empty() && (state() != IBV_QPS_SQD || waiting_.front().position == draining_);
}

void QueuePair::begin_drain() noexcept {
    const bool begun = !waiting_.empty() && waiting_.front().why != Verdict::done;
    draining_ = begun ? waiting_.front().position : 0;
    if (!begun) end_drain();
}

void QueuePair::end_drain() noexcept {
    draining_ = 0;
    if (attr_.en_sqd_async_notify)
        process_.own().raise_event(port_->events, event(IBV_EVENT_SQ_DRAINED).bits());
}

// How long a work request may wait, as if it were tried again and again (IBTA 1.4, 9.7.5.2.8 and
// 9.9.2.4.2): without a receive, rnr_retry times the peer's RNR timer; without a peer, retry_cnt
// times the acknowledgement timeout of 4.096 us * 2^timeout. A peer that has gone for good is no
// exception: programs rely on it, and finish while their last requests are on the way to one that
// has finished before them. Only where the timeout is never, there is nothing to wait for.
Time QueuePair::deadline_of(Verdict why) const noexcept {
    using namespace std::chrono;
    if (why == Verdict::no_receive) {
        if (attr_.rnr_retry == kRetryForever) return kNever;
        return Clock::now() +
               microseconds{10} *
                   kRnrTimer[link_.port->min_rnr_timer.load(std::memory_order_relaxed) & 31] *
                   (attr_.rnr_retry + 1);
    }
    if (why == Verdict::no_peer || why == Verdict::gone) {
        if (attr_.timeout == 0) return why == Verdict::gone ? Clock::now() : kNever;
        return Clock::now() +
               nanoseconds{(uint64_t{4096} << attr_.timeout) * (attr_.retry_cnt + 1u)};
    }
    return Time{}; // not tried yet
}

bool QueuePair::retry() noexcept {
    std::unique_lock guard{lock_, std::try_to_lock};
    if (!guard) return true;
    if (state() == IBV_QPS_ERR) flush();
    while (goes_on()) {
        Waiting& w = waiting_.front();
        const Outcome outcome = carry_out(w.wr, static_cast<uint32_t>(length_of(w.wr)));
        if (outcome.verdict == Verdict::done) {
            Waiting over = std::move(w);
            waiting_.pop_front();
            if (outcome.status == IBV_WC_SUCCESS)
                complete(over.wr, over.position, IBV_WC_SUCCESS);
            else
                fail(over.wr, over.position, outcome.status);
            continue;
        }
        if (w.why != outcome.verdict) {
            if (outcome.verdict == Verdict::no_receive) process_.count_rnr_nak();
            w.why = outcome.verdict;
            w.deadline = deadline_of(w.why);
        }
        if (w.deadline == kNever || Clock::now() < w.deadline) return true;
        Waiting over = std::move(w);
        waiting_.pop_front();
        fail(over.wr, over.position,
             outcome.verdict == Verdict::no_receive ? IBV_WC_RNR_RETRY_EXC_ERR
                                                    : IBV_WC_RETRY_EXC_ERR);
    }
    if (state() == IBV_QPS_SQD && draining_ != 0) end_drain();
    stalled_ = false;
    return false;
}

void QueuePair::push_completion(const ibv_send_wr& wr, uint32_t position,
                                ibv_wc_status status) noexcept {
    send_ids_[position & (send_ids_.size() - 1)] = wr.wr_id;
    send_queue().push(
        {.byte_len = static_cast<uint32_t>(what_is(wr.opcode).brings_data ? length_of(wr) : 0),
         .imm_data = 0,
         .qp_num = qp_num,
         .src_qp = 0,
         .qp_index = index_,
         .request = position,
         .status = static_cast<uint8_t>(status),
         .opcode = static_cast<uint8_t>(what_is(wr.opcode).done),
         .flags = 0},
        status != IBV_WC_SUCCESS);
}

// The first failure takes a connection to the error state, and the send queue of datagrams to
// that of its own; all that follows it is flushed.
void QueuePair::fail(const ibv_send_wr& wr, uint32_t position, ibv_wc_status status) noexcept {
    complete(wr, position, status);
    if (datagram())
        set_state(IBV_QPS_SQE);
    else
        to_error();
}

void QueuePair::flush() noexcept {
    for (const Waiting& w : waiting_) complete(w.wr, w.position, IBV_WC_WR_FLUSH_ERR);
    waiting_.clear();
    if (srq && !std::exchange(last_told_, true))
        process_.own().raise_event(port_->events, event(IBV_EVENT_QP_LAST_WQE_REACHED).bits());
    take_receives([this](const ReceiveRingView::Claim& c) {
        receive_queue().push({.byte_len = 0,
                              .imm_data = 0,
                              .qp_num = qp_num,
                              .src_qp = 0,
                              .qp_index = index_,
                              .request = c.request,
                              .status = IBV_WC_WR_FLUSH_ERR,
                              .opcode = IBV_WC_RECV,
                              .flags = 0},
                             true);
    });
}

void QueuePair::drop_receives() noexcept {
    take_receives([this](const ReceiveRingView::Claim& c) { receives().completed(c.request); });
}

// Takes back the receives that are posted to this queue pair alone.
template <class F>
void QueuePair::take_receives(F&& taken) noexcept {
    if (!own_receives_) return;
    std::atomic<uint32_t> holds{0};
    for (ReceiveRingView::Claim c; own_receives_->view().claim(qp_num, holds, c);) taken(c);
}

int QueuePair::post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad_wr) noexcept {
    std::lock_guard guard{lock_};
    if (srq || state() == IBV_QPS_RESET) {
        *bad_wr = wr;
        return EINVAL;
    }
    const int error = own_receives_->post(wr, bad_wr);
    if (state() == IBV_QPS_ERR) flush();
    return error;
}

} // namespace odrc::soft
