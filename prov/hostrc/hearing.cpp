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
    hear_of_arrival(packet.acknowledged, packet.echo);
    if (active_->reads > 0 && out_.under_way() == 0) {
        trip_.heard();
        await_answer(ticks_now());
    }
    if (packet.acknowledged != out_.acknowledged()) return; // said before others that were heard
    if (packet.kind == PacketKind::not_ready)
        hear_not_ready();
    else if (packet.kind == PacketKind::refused)
        hear_refusal(packet);
    else if (packet.flags & kGap && out_.lost(packet.length))
        send_again();
}

void QueuePair::hear_of_arrival(uint32_t before, Stamp echo) noexcept {
    if (out_.acknowledge(before, echo) == 0) return;
    const Ticks now = ticks_now();
    trip_.heard();
    trip_.measured(time_since(echo, now));
    while (WorkRequest* w = active_->stream.front()) {
        if (!w->started || is_before(before, w->end())) break;
        if (active_->cursor == w) active_->cursor = nullptr;
        active_->stream.pop_front();
        end(*w, IBV_WC_SUCCESS);
    }
    active_->silence_at = UINT64_MAX;
    if (out_.under_way() > 0) await_answer(now);
    if (out_.repeats()) active_->cursor = nullptr; // perhaps from here on
    cq().stir(*active_);
}

void QueuePair::hear_not_ready() noexcept {
    static const Ticks pause = ticks_of(kNotReady);
    cq().context().count_not_ready();
    trip_.heard();
    out_.not_ready();
    send_again();
    active_->silence_at = UINT64_MAX;
    active_->paused_until = ticks_now() + pause;
    cq().time(*active_, active_->paused_until);
}

void QueuePair::hear_refusal(const Packet& packet) noexcept {
    WorkRequest* guilty = active_->stream.front();
    if (guilty && (!guilty->started || guilty->kind == PacketKind::answer)) guilty = nullptr;
    const bool known = packet.status != IBV_WC_SUCCESS && packet.status <= IBV_WC_GENERAL_ERR;
    give_up(guilty, known ? static_cast<ibv_wc_status>(packet.status) : IBV_WC_REM_OP_ERR);
}

void QueuePair::send_again() noexcept {
    active_->cursor = nullptr;
    cq().stir(*active_);
}

void QueuePair::on_timer(Ticks now) noexcept {
    if (active_->paused_until <= now) {
        active_->paused_until = UINT64_MAX;
        cq().stir(*active_);
    }
    if (active_->silence_at > now) return;
    active_->silence_at = UINT64_MAX;
    if (out_.under_way() == 0 && active_->reads == 0) return;
    trip_.silent();
    if (trip_.silences() >= kSilences) return give_up(nullptr, IBV_WC_RETRY_EXC_ERR);
    if (out_.under_way() > 0) {
        out_.silent(stamp_of(now));
        send_again();
    } else {
        say(PacketKind::acknowledge, kAsks); // it has the question, but is it still there?
    }
    await_answer(now);
}

// guilty: what it fails for; null: the first that is not over.
void QueuePair::give_up(WorkRequest* guilty, ibv_wc_status status) noexcept {
    if (!guilty) {
        guilty = active_->queue.front();
        while (guilty && guilty->ended && !guilty->lacks_answer())
            guilty = active_->queue.after(*guilty);
    }
    if (guilty) guilty->status = status;
    fail();
    cq().stir(*active_);
}

void QueuePair::await_answer(Ticks from) noexcept {
    static const Ticks slow = ticks_of(kSlowAnswer);
    active_->silence_at = from + std::max(trip_.patience(), out_.under_way() > 0 ? 0 : slow);
    cq().time(*active_, active_->silence_at);
}

} // namespace odrc::host
