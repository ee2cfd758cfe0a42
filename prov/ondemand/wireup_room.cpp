// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who has a queue pair where there are fewer of them than peers.
//
// One that is idle, and has not been used since it was last looked at, goes first (SIEVE: Zhang et
// al., NSDI 2024). It goes when both sides have nothing under way on it, so that nothing is lost
// or overtaken: who wants it back asks its peer to leave, and posts nothing until the peer has
// given its own up, or says that it stays.
//
// In the same way a lane goes that is too shallow: with its peer's jobs waiting, and the peer's own
// behind a lane that is to go likewise.

#include "base/log.hpp"
#include "ondemand/wireup.hpp"

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// How many are asked to leave at a time, at most; one that has been asked so often does not count.
constexpr uint32_t kLeaving = 32;
constexpr uint8_t kSlow = 6;

constexpr auto kFirstWait = 2ms;
// A peer that has no room for us is asked again after this, if it does not come by itself.
constexpr auto kWaitForRoom = 100ms;
// And gives way to others in our line after this.
constexpr auto kHoldForRoom = 2ms;
// One that has refused to leave is left alone for so long: what it has for us is on its way, or it
// waits for an answer to what it has asked us itself.
constexpr auto kRest = 2ms;
// What is under way when we are asked to leave has so long to come to its end. Where nobody has
// looked for a while, the first two times that we are asked come together.
constexpr uint16_t kToEnd = 5; // milliseconds
// So often a lane is full before it gives way to a deeper one: who has so much to send at a time
// has it again. Where the peer would not have it, it is asked again after twice as often.
constexpr uint16_t kCrowded = 64;
constexpr uint8_t kDeepenings = 8;

// How long a device that had no queue pair for us is not asked for more.
constexpr auto kAskDevice = 1s;

// Their lower bits.
uint16_t milliseconds_now() noexcept {
    const auto now = Clock::now().time_since_epoch();
    return static_cast<uint16_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

} // namespace

void Wireup::stand_in_line(Peer& peer) noexcept {
    if (peer.standing()) return;
    peer.begin();
    peer.since = peer.began;
    if (takes_queue_pair(peer))
        line_.push_back(peer);
    else
        line_.push_front(peer);
    ++counters_.connections_waiting;
}

void Wireup::serve_line() noexcept {
    const auto fits = [this](const Peer& peer) { return !takes_queue_pair(peer) || has_room(); };
    while (in_line() > 0 && fits(*line_.front()) && may_ask() && begin(*line_.front())) {
    }
    ask_to_leave();
}

// For one lane more. Where the device had no queue pair for it, it is asked again now and then.
bool Wireup::has_room() noexcept {
    if (lanes_ < most_lanes_ || take_back_waiting()) return true;
    if (most_lanes_ == queues_.most_lanes || Clock::now() < more_at_) return false;
    ++most_lanes_;
    return true;
}

// No queue pair could be made, for others have what the device has of them: who has some makes do
// with these.
bool Wireup::make_do(int error) noexcept {
    const bool shortage = error == ENOMEM || error == EAGAIN || error == ENOSPC || error == EBUSY;
    if (!shortage || lanes_ == 0) return false;
    if (most_lanes_ == queues_.most_lanes)
        ODRC_WARN(FI_LOG_EP_CTRL,
                  "{}: the device has no more queue pairs; {} of {} have to do for {} peers",
                  adapter_.port().name(), lanes_, queues_.most_lanes, lanes_ + in_line());
    most_lanes_ = lanes_;
    more_at_ = Clock::now() + kAskDevice;
    return true;
}

// A storm of first words stays smooth; and those to the dead do not hold up the others.
bool Wireup::may_ask() const noexcept {
    const uint32_t asked = count(Link::requested) + promoting_;
    return asked < Pace::kMost && asked - silent_ < pace_.requests();
}

// Has somebody leave for each of those in line. True if some are about to.
bool Wireup::ask_to_leave() noexcept {
    if (in_line() == 0 || has_room()) return true;
    auto leaving = static_cast<uint32_t>(dying_.size());
    for (Peer* peer = wiring_.front(); peer; peer = wiring_.after(*peer))
        if (peer->link == Link::leaving && peer->tries < kSlow) ++leaving;
    for (; leaving < std::min<uint64_t>(in_line(), kLeaving); ++leaving) {
        Peer* peer = laid_.empty() ? idle_peer() : laid_.front();
        if (!peer) break;
        leave(*peer);
    }
    return leaving > 0;
}

Peer* Wireup::idle_peer() noexcept {
    const Time now = Clock::now();
    for (uint64_t n = 2 * counters_.connections; n > 0; --n) {
        Peer* peer = hand_ ? hand_ : connected_.front();
        if (!peer) return nullptr;
        hand_ = connected_.after(*peer);
        if (peer->lane->visited() || !peer->nothing_waits()) continue;
        if (peer->stayed && now - peer->since < kRest) continue;
        if (peer->lane->idle()) return peer;
        if (peer->lane->untold()) peer->lane->probe();
    }
    return nullptr;
}

// Endpoints whose queue pairs all wait for each other's would wait for ever: who has the smaller
// number goes first.
bool Wireup::make_way_for(const WireupMessage& request) noexcept {
    if (ask_to_leave() || request.endpoint > endpoint_) return false;
    for (Peer* peer = wiring_.front(); peer; peer = wiring_.after(*peer)) {
        if (peer->promotion == Promotion::requested)
            give_up_promotion(*peer, FI_EAGAIN);
        else if (peer->link == Link::requested && !peer->lane->by_datagrams())
            step_aside(*peer);
        else
            continue;
        return true;
    }
    return false;
}

void Wireup::crowd(Peer& peer) noexcept {
    if (!peer.ready()) return;
    Lane& lane = *peer.lane;
    if (lane.by_datagrams()) {
        if (peer.promotion == Promotion::agreed) return go_over(peer);
        if (lane.full() || peer.needs_connection()) promote(peer);
        return;
    }
    if (!lane.held()) {
        if (lane.is_deep() || !lane.full() || peer.deepenings >= kDeepenings) return;
        if (++peer.crowded < kCrowded << peer.deepenings) return;
        peer.crowded = 0;
        ++peer.deepenings;
        peer.deep = true;
        lane.hold(true);
    }
    if (lane.idle()) return leave(peer);
    if (lane.untold()) lane.probe();
}

// Where it is counted that the peer was asked to leave.
uint64_t& Wireup::departures(const Peer& peer) noexcept {
    return peer.lane->held() ? counters_.connections_deepened : counters_.connections_evicted;
}

void Wireup::leave(Peer& peer) noexcept {
    if (peer.link == Link::laid) become_ready(peer);
    ++departures(peer);
    if (peer.address == address()) return part(peer);
    peer.begin();
    ++peer.leave_round;
    set_link(peer, Link::leaving);
    await_answer(peer, kFirstWait);
    send(WireupType::leave, peer, peer.leave_round);
}

// Nothing is under way, on either side: the connection goes, and comes back at the next word.
void Wireup::part(Peer& peer) noexcept {
    counters_.connection_closed();
    peer.breaks = 0; // this one has held
    if (peer.promotion == Promotion::done) return demote(peer);
    step_aside(peer);
}

bool Wireup::is_of_link(const Peer& peer, const WireupMessage& m) const noexcept {
    if (peer.promotion == Promotion::done && is_of_promotion(peer, m)) return true;
    return peer.link != Link::none && peer.link != Link::requested &&
           m.endpoint == peer.remote_endpoint && m.attempt == peer.remote_attempt &&
           m.answered_attempt == peer.attempt;
}

void Wireup::on_wait(Peer& peer, const WireupMessage& m) noexcept {
    const bool of_promotion = peer.promotion == Promotion::requested;
    if (!of_promotion && peer.link != Link::requested) return;
    if (m.answered_attempt != (of_promotion ? peer.promotion_attempt : peer.attempt)) return;
    peer.heard = Clock::now();
    peer.told_to_wait = true;
    peer.retransmit_at = peer.heard + (in_line() > 0 ? kHoldForRoom : kWaitForRoom);
}

void Wireup::on_leave(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.ready() && is_of_promotion(peer, m)) { // the peer has gone over, and we have not yet
        if (peer.promotion == Promotion::accepted) agree(peer);
        if (peer.promotion == Promotion::agreed) go_over(peer);
        if (peer.promotion == Promotion::agreed) return answer(WireupType::stay, peer, m, m.reason);
    }
    if (!is_of_link(peer, m)) return answer(WireupType::left, peer, m);
    if (in_doubt(peer.link)) become_ready(peer);
    // What was refused once stays so, however late it comes again: the peer has gone on meanwhile.
    const bool refused = m.reason <= peer.refused_round;
    // What waits for the peer to take more would keep the queue pair from whom that waits for.
    const bool at_work = !peer.nothing_waits() && !peer.lane->held() && !peer.stopped;
    if (refused || at_work) {
        peer.refused_round = std::max(peer.refused_round, m.reason);
        return answer(WireupType::stay, peer, m, m.reason);
    }
    if (!peer.lane->idle()) { // it asks again soon, and not for ever
        const uint16_t now = milliseconds_now();
        if (std::exchange(peer.asked_round, m.reason) != m.reason) {
            peer.asked_at = now;
        } else if (static_cast<uint16_t>(now - peer.asked_at) >= kToEnd) {
            peer.refused_round = m.reason;
            return answer(WireupType::stay, peer, m, m.reason);
        }
        asked_too_early_ = true;
        if (peer.lane->untold()) peer.lane->probe();
        return;
    }
    part(peer);
    answer(WireupType::left, peer, m);
}

void Wireup::on_stay(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link != Link::leaving || !is_of_link(peer, m) || m.reason != peer.leave_round) return;
    --departures(peer);
    peer.lane->hold(false);
    set_link(peer, Link::ready);
    stand_on(connected_, peer);
    peer.stayed = true;
    mark_changed(peer);
}

// As it was asked to, or because the connection broke before we knew that it stood.
void Wireup::on_left(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.promotion == Promotion::accepted && is_of_promotion(peer, m))
        return give_up_promotion(peer, FI_EAGAIN);
    if (!is_of_link(peer, m)) return;
    if (peer.link == Link::leaving) return part(peer);
    if (peer.link == Link::accepted) return step_aside(peer);
    if (peer.link == Link::ready) replace(peer);
}

} // namespace odrc::ondemand
