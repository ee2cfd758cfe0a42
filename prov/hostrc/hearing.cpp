// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What is heard of what went out over a connection, and what follows from silence.

#include "hostrc/completion_queue.hpp"
#include "hostrc/context.hpp"
#include "hostrc/queue_pair.hpp"

namespace odrc::host {
namespace {

using namespace std::chrono_literals;

// Who has no receive is asked again after as long as a queue pair of the device's own would wait
// (verbs_rc/queue_pair.cpp).
constexpr auto kNotReady = 640us;
// After so long without an answer to what has arrived the other side is asked whether it is there.
constexpr auto kSlowAnswer = 30ms;
// So often in a row is nothing heard, and a connection is over: after some two seconds.
constexpr uint8_t kSilences = 14;

} // namespace

void QueuePair::hear(const Packet& packet) noexcept {
    hear_of_arrival(packet.acknowledged);
    if (reads_ > 0 && out_.under_way() == 0) {
        trip_.heard();
        await_answer(ticks_now());
    }
    if (packet.acknowledged != out_.acknowledged()) return; // said before others that were heard
    if (packet.kind == PacketKind::not_ready)
        hear_not_ready();
    else if (packet.kind == PacketKind::refused)
        hear_refusal(packet);
    else if (packet.flags & kGap)
        send_again(out_.lost());
}

void QueuePair::hear_of_arrival(uint32_t before) noexcept {
    if (out_.acknowledge(before) == 0) return;
    const Ticks now = ticks_now();
    trip_.heard();
    tries_ = false;
    if (timed_at_ != 0 && is_before(timed_number_, before)) {
        trip_.measured(now - timed_at_);
        timed_at_ = 0;
    }
    while (WorkRequest* w = stream_.front()) {
        if (!w->started || is_before(before, w->end())) break;
        if (cursor_ == w) cursor_ = nullptr;
        stream_.pop_front();
        end(*w, IBV_WC_SUCCESS);
    }
    silence_at_ = UINT64_MAX;
    if (out_.under_way() > 0) await_answer(now);
    cq_.stir(*this);
}

void QueuePair::hear_not_ready() noexcept {
    static const Ticks pause = ticks_of(kNotReady);
    cq_.context().count_not_ready();
    trip_.heard();
    tries_ = true;
    send_again(out_.go_back());
    silence_at_ = UINT64_MAX;
    paused_until_ = ticks_now() + pause;
    cq_.time(*this, paused_until_);
}

void QueuePair::hear_refusal(const Packet& packet) noexcept {
    WorkRequest* guilty = stream_.front();
    if (guilty && (!guilty->started || guilty->kind == PacketKind::answer)) guilty = nullptr;
    const bool known = packet.status != IBV_WC_SUCCESS && packet.status <= IBV_WC_GENERAL_ERR;
    give_up(guilty, known ? static_cast<ibv_wc_status>(packet.status) : IBV_WC_REM_OP_ERR);
}

void QueuePair::send_again(uint32_t packets) noexcept {
    if (packets == 0) return;
    cursor_ = nullptr;
    timed_at_ = 0; // nobody knows which of them is answered
    cq_.stir(*this);
}

void QueuePair::on_timer(Ticks now) noexcept {
    if (paused_until_ <= now) {
        paused_until_ = UINT64_MAX;
        cq_.stir(*this);
    }
    if (silence_at_ > now) return;
    silence_at_ = UINT64_MAX;
    if (out_.under_way() == 0 && reads_ == 0) return;
    trip_.silent();
    if (trip_.silences() >= kSilences) return give_up(nullptr, IBV_WC_RETRY_EXC_ERR);
    if (out_.under_way() > 0)
        send_again(out_.silent());
    else
        say(PacketKind::acknowledge, kAsks); // it has the question, but is it still there?
    await_answer(now);
}

// guilty: what it fails for; null: the first that is not over.
void QueuePair::give_up(WorkRequest* guilty, ibv_wc_status status) noexcept {
    if (!guilty) {
        guilty = queue_.front();
        while (guilty && guilty->ended && !guilty->lacks_answer()) guilty = queue_.after(*guilty);
    }
    if (guilty) guilty->status = status;
    fail();
    cq_.stir(*this);
}

void QueuePair::await_answer(Ticks from) noexcept {
    static const Ticks slow = ticks_of(kSlowAnswer);
    silence_at_ = from + std::max(trip_.patience(), out_.under_way() > 0 ? 0 : slow);
    cq_.time(*this, silence_at_);
}

} // namespace odrc::host
