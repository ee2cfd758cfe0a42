// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What comes in over a connection is taken in its order, once each, and acknowledged.

#include "hostrc/completion_queue.hpp"
#include "hostrc/queue_pair.hpp"

namespace odrc::host {
namespace {

using namespace std::chrono_literals;

// So long may an acknowledgement wait for something that goes there anyway.
constexpr auto kMayWait = 50us;

} // namespace

void QueuePair::take(const Datagrams::Arrival& arrival) noexcept {
    peer_number_ = arrival.packet.from;
    if (!rouse()) return; // as if it were lost
    take_in(arrival);
    rest();
}

void QueuePair::take_in(const Datagrams::Arrival& arrival) noexcept {
    const Packet& packet = arrival.packet;
    if (!alive()) {
        if (refusal_ != IBV_WC_SUCCESS && is_numbered(packet.kind)) say(PacketKind::refused, 0);
        return;
    }
    hear(packet);
    if (!alive()) return;
    if (!is_numbered(packet.kind)) {
        if (packet.kind == PacketKind::acknowledge && packet.flags & kAsks) owe(packet, 0);
        return;
    }
    switch (in_.look(packet.number)) {
    case InWindow::Arrival::again: // the acknowledgement may have been lost
        return take_again(packet);
    case InWindow::Arrival::early:
        return take_early(arrival);
    case InWindow::Arrival::next:
        break;
    }
    if (!take_next(arrival) || active_->early.empty()) return;
    while (const auto kept = active_->early.take(in_.expected(), cq().early_packets()))
        if (!take_next(kept->arrival())) return;
    if (!active_->early.empty()) tell_gap();
}

void QueuePair::take_again(const Packet& packet) noexcept {
    ++cq().count().packets_doubled;
    owe(packet, 0);
}

// It waits for those before it, or goes again with them.
void QueuePair::take_early(const Datagrams::Arrival& arrival) noexcept {
    if (active_->early.has(arrival.packet.number)) return take_again(arrival.packet);
    const bool of_window = arrival.packet.number - in_.expected() < kMostWindow;
    if (of_window && active_->early.keep(arrival, cq().early_packets()))
        ++cq().count().packets_kept;
    else
        ++cq().count().packets_early;
    tell_gap();
}

void QueuePair::tell_gap() noexcept {
    if (in_.tells_gap()) say(PacketKind::acknowledge, kGap);
}

// False: it is not over, or the connection is.
bool QueuePair::take_next(const Datagrams::Arrival& arrival) noexcept {
    switch (carry_out(arrival)) {
    case Verdict::done:
        break;
    case Verdict::not_ready:
        in_.tells_gap(); // what follows is early for that reason
        say(PacketKind::not_ready, 0);
        return false;
    case Verdict::refused:
        return false;
    }
    in_.accept();
    static const Ticks wait = ticks_of(kMayWait);
    if (arrival.packet.flags & kAsks)
        owe(arrival.packet, 0);
    else if (!active_->on<Owing>())
        owe(arrival.packet, ticks_now() + wait);
    return true;
}

void QueuePair::acknowledge() noexcept { say(PacketKind::acknowledge, 0); }

void QueuePair::owe(const Packet& packet, Ticks when) noexcept {
    in_.owe(packet.sent);
    if (active_->on<Owing>()) List<Activity, Owing>::erase(*active_);
    active_->pays_at = when;
    cq().owe(*active_, when);
}

// What has no number, and may be lost: also for want of room.
void QueuePair::say(PacketKind kind, uint8_t flags) noexcept {
    if (!cq().datagrams().has_room()) return;
    Packet packet = make_packet(kind, out_.next(), ticks_now());
    packet.flags = flags;
    packet.status = refusal_;
    if (flags & kGap) packet.length = active_->early.missing_from(in_.expected());
    if (kind == PacketKind::acknowledge) ++cq().count().acknowledgements;
    cq().datagrams().send(ah_, peer_datagrams_, packet, {});
}

} // namespace odrc::host
