// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What comes of the exchange: a peer's link, with its lane, from the queue pair to the last of its
// completions.

#include "base/error.hpp"
#include "base/log.hpp"
#include "ondemand/wireup.hpp"

#include <cstring>

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// How many connections to a peer may break in a row that have carried nothing. Some may though they
// are good: what breaks them comes at its own times, and their processes wait for a processor.
constexpr uint8_t kBreaks = 15;

// Its queue pair is: something may have come over it.
bool is_connected(const Peer& peer) noexcept {
    return peer.link != Link::none && (peer.link != Link::requested || peer.called);
}

// Where the time is counted for which a peer stood like that; null: it is not.
uint64_t* time_spent(Counters& counters, const Peer& peer) noexcept {
    switch (peer.promotion) {
    case Promotion::wanted:
        return &counters.line_ns;
    case Promotion::requested:
        return &counters.request_ns;
    case Promotion::accepted:
        return &counters.accept_ns;
    case Promotion::none:
    case Promotion::agreed:
    case Promotion::done:
        break;
    }
    switch (peer.link) {
    case Link::none:
        return &counters.line_ns;
    case Link::requested:
        return &counters.request_ns;
    case Link::accepted:
        return &counters.accept_ns;
    case Link::leaving:
        return &counters.leave_ns;
    case Link::laid:
    case Link::tried:
    case Link::ready:
        return nullptr;
    }
    return nullptr;
}

// The network is in the way, not the peer: the link is down, or the host's address was not found
// out in time. It may be otherwise when it is tried again.
bool is_passing(int error) noexcept {
    return error == ENETUNREACH || error == ENETDOWN || error == EHOSTUNREACH || error == ETIMEDOUT;
}

} // namespace

// Throws Error. Those that are spare are shallow, and of the domain's device.
verbs::QueuePair Wireup::make_queue_pair(Station& station, bool deep) {
    const bool of_domain = !station.beside() && !station.by_datagrams();
    if (!deep && of_domain) return spares_.take();
    if (of_domain && !has_room_for_spare() && spares_.count() > 0) spares_.drop_one();
    const auto most = static_cast<uint32_t>(station.adapter().port().device_attr.max_sge);
    return {station.adapter(),
            station.cq(),
            station.srq(),
            {deep ? kFullDepth : kFirstDepth, std::min(queues_.segments, most)},
            queues_.access};
}

int Wireup::make_lane(Peer& peer) noexcept {
    return -guarded([&] {
        Station& station = station_for(peer);
        peer.lane =
            std::make_unique<Lane>(make_queue_pair(station, peer.deep), station, queues_.posting,
                                   queues_.copies, peer, peer.session, peer.received);
        try {
            peers_.add(*peer.lane);
        } catch (...) {
            peer.lane.reset();
            throw;
        }
        count_lane(*peer.lane);
        peer.attempt = ++attempts_;
        peer.sent_by_ring = peer.received_by_ring = 0;
        if (!peer.own_losses) peer.own_losses = peer.attempt;
        open_window(peer);
        return 0;
    });
}

// Once for each lane, whose requests and acceptances tell it: they may be lost, but one of those
// that tell the same has come when anything comes over the lane. Until then nothing is received.
void Wireup::open_window(Peer& peer) noexcept {
    const uint32_t others = (peer.lane->by_datagrams() ? datagram_lanes_ : lanes_) - 1;
    peer.window_in.widen(peer.received, peer.lane->station().shares().first(others));
}

int Wireup::connect_lane(Lane& lane, const verbs::QpAddress& remote) noexcept {
    const Peer& peer = lane.peer();
    const verbs::Port& port = lane.adapter().port();
    if (port.this_host_only && std::memcmp(remote.gid.raw, port.gid.raw, sizeof remote.gid) != 0) {
        ODRC_LOG(
            level_for(peer), FI_LOG_EP_CTRL,
            "{}: {} is on another host, in another container, another user's, or one of us is not "
            "dumpable (prctl(2)): the soft device does not reach it",
            port.name(), peer.address.text());
        return FI_EHOSTUNREACH;
    }
    const int error = lane.qp().connect(remote);
    if (is_passing(error)) {
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: no way to {} now: {}", port.name(), peer.address.text(),
                  fi_strerror(error));
        return FI_EAGAIN;
    }
    if (error)
        ODRC_LOG(lane.station().beside() ? FI_LOG_INFO : level_for(peer), FI_LOG_EP_CTRL,
                 "{}: queue pair {:#x} does not connect to {:#x} of {}: {}", port.name(),
                 lane.qp().number(), remote.qpn, peer.address.text(), fi_strerror(error));
    return error;
}

void Wireup::become_ready(Peer& peer) noexcept {
    if (peer.link == Link::accepted)
        ++(peer.crossed ? counters_.connections_crossed : counters_.connections_answered);
    set_link(peer, Link::ready);
    peer.wanted = peer.stayed = false;
    peer.lane->set_frames_only(peer.lane->by_datagrams());
    if (!peer.lane->by_datagrams()) {
        stand_on(connected_, peer);
        counters_.connection_opened();
    }
    peer.lane->station().shares().meet();
    if (peer.lane->station().beside()) ++counters_.connections_soft;
    peer.stranger = false;
    if (std::exchange(peer.replacing, false)) ++counters_.connections_replaced;
    if (!std::exchange(peer.met, true)) ++counters_.peers;
    mark_changed(peer);
}

// The peer is on no list then.
void Wireup::set_link(Peer& peer, Link link) noexcept {
    stand_down(peer);
    --links_[static_cast<size_t>(peer.link)];
    ++links_[static_cast<size_t>(link)];
    peer.link = link;
    peer.called = false;
    silent_ -= peer.silent;
    peer.silent = false;
    if (link == Link::none || link == Link::ready) end_stall(peer);
    counters_.connections_wiring = count(Link::requested) + count(Link::accepted);
    counters_.connections_leaving = count(Link::leaving);
}

void Wireup::stand_on(List<Peer, Stand>& list, Peer& peer) noexcept {
    list.push_back(peer);
    peer.since = Clock::now();
}

void Wireup::stand_down(Peer& peer) noexcept {
    if (!peer.standing()) return;
    if (hand_ == &peer) hand_ = connected_.after(peer);
    if (uint64_t* spent = time_spent(counters_, peer))
        *spent += static_cast<uint64_t>((Clock::now() - peer.since) / 1ns);
    if (peer.link == Link::none || peer.promotion == Promotion::wanted)
        --counters_.connections_waiting;
    List<Peer, Stand>::erase(peer);
}

void Wireup::drop(Peer& peer, int error) noexcept {
    if (peer.link == Link::none && !peer.standing() && !peer.broken) return;
    if (peer.connected()) counters_.connection_closed();
    peer.own_losses = peer.remote_losses = 0;
    peer.begin_session();
    peer.replacing = peer.asked = peer.closed = false;
    peer.breaks = 0;
    peer.error = error;
    peer.refusals = 0;
    peer.wanted = false;
    forget_lane(peer);
    mark_changed(peer);
}

// The peer has closed. What it has taken is told from what is lost when all has come back from the
// last lane.
void Wireup::end(Peer& peer) noexcept {
    peer.closed = true;
    if (peer.ready() || peer.promotion == Promotion::done) return replace(peer);
    if (in_doubt(peer.link)) return break_off(peer);
    if (!peer.broken) drop(peer, FI_ECONNRESET);
}

// What was on its way comes back in error, and then stands in line for the next one, in front of
// all else.
void Wireup::replace(Peer& peer) noexcept {
    if (peer.connected()) counters_.connection_closed();
    if (peer.promotion != Promotion::none) {
        peer.needs_no_datagrams = true;
        peer.begins_by_datagrams = false;
    }
    peer.refusals = 0;
    peer.replacing = true;
    break_off(peer);
}

// There is no other lane before this one is over and all that came over it is counted, so that the
// peer can be told. What it was to repeat and has not stays behind what comes back from it.
void Wireup::break_off(Peer& peer) noexcept {
    peer.broken = true;
    while (Job* job = peer.repeats.pop_front()) peer.left.push_back(*job);
    peer.carried = peer.lane->has_worked() || (peer.second && peer.second->has_worked());
    ++breaking_;
    peer.breaking = 0;
    for (Lane* lane : {peer.lane.get(), peer.second.get()}) {
        if (!lane || (lane == peer.second.get() && !is_connected(peer.promotion))) continue;
        lane->set_awaited();
        ++peer.breaking;
    }
    forget_lane(peer);
}

// Nothing more comes of a lane that broke. A peer whose connections do not hold is not tried for
// ever. Whether they hold knows who has something to send, and tells the other side with the next
// one: what the peer reads and writes here does not show.
void Wireup::broke_off(Peer& peer, bool tried) noexcept {
    while (Job* job = peer.left.pop_front()) peer.repeats.push_back(*job);
    // One that was laid, and over which nobody was heard, may have led nowhere.
    if (peer.remote_attempt == kLaidAttempt && !peer.met && peer.received == 0)
        peer.remote_losses = 0;
    if (peer.carried) peer.breaks = 0;
    if (peer.closed) {
        drop(peer, FI_ECONNRESET);
    } else if (peer.replacing && !peer.carried && tried && ++peer.breaks > kBreaks) {
        ODRC_WARN(FI_LOG_EP_CTRL,
                  "{}: connections to {} do not hold: {} have broken, one by one, "
                  "that had carried nothing",
                  adapter_.port().name(), peer.address.text(), peer.breaks);
        drop(peer, FI_ECONNRESET);
    }
    peer.broken = false;
    --breaking_;
    peer.wanted = !peer.nothing_waits() || (peer.replacing && !peer.unanswered.empty());
    if ((peer.wanted || peer.asked) && !peer.error) stand_in_line(peer);
    peer.asked = false;
}

// The link goes, and nothing with it: what waits for it stands in line.
void Wireup::step_aside(Peer& peer) noexcept {
    if (is_connected(peer)) return break_off(peer);
    forget_lane(peer);
    peer.wanted = !peer.nothing_waits();
    if (peer.wanted) stand_in_line(peer);
}

// A lane that was connected goes once what is under way on it is flushed.
void Wireup::forget_lane(Peer& peer) noexcept {
    const bool connected = is_connected(peer);
    forget_second(peer);
    set_link(peer, Link::none);
    if (peer.lane) discard(peer.lane, connected);
}

void Wireup::discard(std::unique_ptr<Lane>& lane, bool connected) noexcept {
    if (connected) {
        lane->fail();
        dying_.push_back(std::move(lane));
    } else {
        peers_.remove(*lane);
        discount_lane(*lane);
        lane.reset();
    }
}

void Wireup::bury(Lane& lane, bool done) noexcept {
    if (done && lane.awaited()) lane.peer().carried = true;
    lane.try_mark();
    if (lane.finished()) lay_to_rest(lane.peer());
}

void Wireup::lay_to_rest(const Peer& peer) noexcept {
    const auto over = [&](const auto& lane) { return &lane->peer() == &peer && may_rest(*lane); };
    for (;;) {
        const auto found = std::ranges::find_if(dying_, over);
        if (found == dying_.end()) break;
        rest(**found);
    }
}

// Frames that wait on it for their turn go with it only when nothing can come before them any more.
bool Wireup::may_rest(const Lane& lane) const noexcept {
    if (!lane.finished()) return false;
    bool others = false;
    if (lane.early())
        for_each_lane(lane.peer(), [&](const Lane& other) { others |= !other.finished(); });
    return !others;
}

void Wireup::rest(Lane& lane) noexcept {
    Peer& peer = lane.peer();
    if (lane.awaited()) {
        if (peer.received != lane.received_before()) peer.carried = true;
        if (--peer.breaking == 0) broke_off(peer, lane.tried());
    }
    peers_.remove(lane);
    discount_lane(lane);
    std::erase_if(dying_, [&](const auto& dying) { return dying.get() == &lane; });
    if (in_line() > 0) serve_line();
}

void Wireup::mark_changed(Peer& peer) noexcept {
    if (!static_cast<ListNode<Changed>&>(peer).linked()) changed_.push_back(peer);
}

void Wireup::say_goodbye() noexcept {
    peers_.for_each([this](Peer& peer) {
        if (peer.link == Link::laid) return lift(peer);
        const bool known = peer.link != Link::none || peer.replacing;
        if (known && peer.address != address()) send(WireupType::goodbye, peer);
        drop(peer, FI_ESHUTDOWN);
    });
}

} // namespace odrc::ondemand
