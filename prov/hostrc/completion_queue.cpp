// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hostrc/completion_queue.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "hostrc/context.hpp"

#include <algorithm>
#include <sched.h>

namespace odrc::host {
namespace {

// Datagrams that may lie there: of a window's worth from each of eight peers, or of as many as the
// program lets come at all, or has memory for; but not less than one window's worth.
constexpr size_t kMostReceives = 8 * kMostWindow;
// For a datagram that is on its way to the wire. One that has not left by then does not.
constexpr std::chrono::seconds kLongestWait{1};

uint32_t receives_for(int entries, const HostContext& context) noexcept {
    const size_t most =
        std::min(Datagrams::fit_into(context.room(), context.port()), kMostReceives);
    return static_cast<uint32_t>(
        std::max<size_t>(std::min(static_cast<size_t>(entries), most), kMostWindow));
}

} // namespace

CompletionQueue::CompletionQueue(HostContext& context, int entries, void* cq_context,
                                 CompletionChannel* channel)
    : ibv_cq{}
    , context_{context}
    , channel_{channel}
    , pd_{context.pd()}
    , datagrams_{context.device(),
                 context.port(),
                 pd_,
                 receives_for(entries, context),
                 channel ? channel->below() : nullptr,
                 this}
    , work_requests_{context.device(), context.port(), pd_}
    , ring_(static_cast<size_t>(entries)) {
    ibv_cq::context = &context.verbs();
    ibv_cq::channel = channel;
    ibv_cq::cq_context = cq_context;
    cqe = entries;
    context_.add(*this);
    if (channel_) ++channel_->leaning;
}

CompletionQueue::~CompletionQueue() {
    if (channel_) --channel_->leaning;
    context_.remove(*this);
}

void CompletionQueue::enter(QueuePair& qp, ibv_pd* pd) {
    const std::lock_guard guard{lock_};
    if (pd != pd_) throw Error{EINVAL};
    if (find(qp.qp_num)) throw Error{EAGAIN};
    if (!connections_.add(qp, [](const QueuePair& q) { return q.qp_num; })) throw Error{ENOMEM};
}

// Its completions go with it (IBTA 1.4, 10.3.1).
void CompletionQueue::leave(QueuePair& qp) noexcept {
    connections_.remove(qp);
    size_t kept = 0;
    for (size_t i = 0; i < count_; ++i) {
        const ibv_wc& wc = ring_[(head_ + i) % ring_.size()];
        if (wc.qp_num != qp.qp_num) ring_[(head_ + kept++) % ring_.size()] = wc;
    }
    count_ = kept;
}

QueuePair* CompletionQueue::find(uint32_t number) noexcept {
    if (connections_.count() == 0) return nullptr;
    const auto& list = connections_[number];
    QueuePair* qp = list.front();
    while (qp && qp->qp_num != number) qp = list.after(*qp);
    return qp;
}

void CompletionQueue::push(const ibv_wc& completion) noexcept {
    if (count_ == ring_.size()) {
        overrun_ = true;
        return;
    }
    ring_[(head_ + count_++) % ring_.size()] = completion;
}

int CompletionQueue::poll(int count, ibv_wc* wc) noexcept {
    const std::lock_guard guard{lock_};
    if (count_ < static_cast<size_t>(count)) progress();
    if (overrun_) return -1;
    int n = 0;
    for (; n < count && count_ > 0; ++n, --count_) {
        wc[n] = ring_[head_];
        if (++head_ == ring_.size()) head_ = 0;
    }
    return n;
}

void CompletionQueue::progress() noexcept {
    const auto taken = [this](const Datagrams::Arrival& arrival) { take(arrival); };
    while (datagrams_.poll(taken) == Datagrams::kBatch && count_ < ring_.size() / 2) tend_stirred();
    tend_stirred();
    const Ticks now = ticks_now();
    if (now >= next_timer_) look_at_timers(now);
    pay(now);
}

void CompletionQueue::take(const Datagrams::Arrival& arrival) noexcept {
    const bool called = arrival.packet.to == kNobody;
    QueuePair* to = called ? find_caller(arrival) : find(arrival.packet.to);
    if (to && (called || to->knows(arrival))) return to->take(arrival);
    count().packets_stray += called ? unclaimed_.keep(arrival) : 1;
    if (called) called_.store(true, std::memory_order_relaxed);
}

// Whom that is for who does not know our side's number.
QueuePair* CompletionQueue::find_caller(const Datagrams::Arrival& arrival) noexcept {
    for (const uint32_t number : latest_)
        if (QueuePair* qp = find(number); qp && qp->is_called_by(arrival)) return qp;
    return nullptr;
}

void CompletionQueue::claim(QueuePair& qp) noexcept {
    latest_[next_latest_++ % kLatest] = qp.qp_num;
    unclaimed_.claim([&](const Datagrams::Arrival& arrival) {
        if (!qp.is_called_by(arrival)) return false;
        qp.take(arrival);
        return true;
    });
}

// Those that the device has no room for have their turn again with the next batch.
void CompletionQueue::tend_stirred() noexcept {
    for (Activity* active = stirred_.front(); active;) {
        Activity* next = stirred_.after(*active);
        QueuePair& qp = active->connection;
        if (qp.tend()) {
            List<Activity, Stirred>::erase(*active);
            qp.rest();
        }
        active = next;
    }
}

void CompletionQueue::pay(Ticks now) noexcept {
    while (Activity* active = owing_.front()) {
        if (active->pays_at > now || !datagrams_.has_room()) return;
        QueuePair& qp = active->connection;
        qp.acknowledge();
        qp.rest();
    }
}

void CompletionQueue::look_at_timers(Ticks now) noexcept {
    next_timer_ = UINT64_MAX;
    for (Activity* active = timed_.front(); active;) {
        Activity* next = timed_.after(*active);
        if (active->timer() <= now) active->connection.on_timer(now);
        if (active->timer() == UINT64_MAX)
            List<Activity, Timed>::erase(*active);
        else
            next_timer_ = std::min(next_timer_, active->timer());
        active = next;
    }
}

void CompletionQueue::stir(Activity& active) noexcept {
    if (!active.on<Stirred>()) stirred_.push_back(active);
}

void CompletionQueue::owe(Activity& active, Ticks when) noexcept {
    if (when == 0)
        owing_.push_front(active);
    else
        owing_.push_back(active);
    if (woken_at_ != 0) wake_sleeper();
}

void CompletionQueue::time(Activity& active, Ticks when) noexcept {
    if (!active.on<Timed>()) timed_.push_back(active);
    next_timer_ = std::min(next_timer_, when);
    if (woken_at_ != 0) wake_sleeper();
}

// What is due earlier than he knows.
void CompletionQueue::wake_sleeper() noexcept {
    const Ticks now = ticks_now();
    if (const Ticks next = next_deadline(now); next < woken_at_) {
        woken_at_ = next;
        channel_->wake_in(next - std::min(now, next), *this);
    }
}

Ticks CompletionQueue::next_deadline(Ticks now) const noexcept {
    Ticks next = next_timer_;
    if (const Activity* active = owing_.front()) next = std::min(next, active->pays_at);
    if (!stirred_.empty() || count_ > 0) next = now;
    return next;
}

// As a device does, it tells of what comes after this: nobody hears of what is there already, but
// who arms looks again before it sleeps.
void CompletionQueue::arm() noexcept {
    const std::lock_guard guard{lock_};
    if (!channel_) return;
    datagrams_.arm();
    const Ticks now = ticks_now();
    woken_at_ = next_deadline(now);
    if (woken_at_ != UINT64_MAX) channel_->wake_in(woken_at_ - std::min(now, woken_at_), *this);
}

void CompletionQueue::wait_for_datagrams() noexcept {
    std::unique_lock guard{lock_};
    const uint64_t last = datagrams_.last_reader();
    const Time end = Clock::now() + kLongestWait;
    while (!datagrams_.over(last) && Clock::now() < end) {
        progress();
        guard.unlock();
        sched_yield();
        guard.lock();
    }
}

} // namespace odrc::host
