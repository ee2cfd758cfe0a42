// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// From datagrams to a connection, and back: a peer earns its lane.
//
// The first lane to a peer may go by datagrams, which take no queue pair, and carries frames alone:
// to each peer with FI_ODRC_RELIABILITY=ladder, and by default to those that come when there are a
// good many connections already. A peer with whom much is exchanged over it, or for whom there is
// something that reads or writes memory, is promoted: a second lane, a connection that the device
// keeps, is made while the first one goes on carrying.
//
//   none ──earned──▶ requested ──promoted──▶ agreed ──first lane idle──▶ done
//   none ──promote──▶ accepted ──seen, or a frame──▶ agreed             the peer began
//   requested ──promote──▶ accepted                                     both began
//   done ──leave, left──▶ none          the queue pair is for another, or nobody has used it for a
//                                       while: the first lane carries again
//
// Each side goes over by itself, when nothing that it has sent is under way over the first lane. So
// what it sends next cannot overtake it: that has come, though its receiver may find it later, for
// it lies in another completion queue. What is found before its turn waits on its lane. Nobody
// takes the first lane away: it is what is left when the connection is given up, with the handshake
// by which any goes (wireup_room.cpp), and then no word has to be exchanged.
//
// Both lanes are of one session, and one window. When either breaks, both do, and what takes their
// place is a connection from the beginning.
//
// A promotion that fails leaves things as they are, unless what waits for it is nothing that
// datagrams carry.

#include "base/error.hpp"
#include "base/log.hpp"
#include "ondemand/wireup.hpp"

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// Who has neither sent nor received anything over its connection for so long, or up to twice as
// long, does without.
constexpr auto kIdle = 10s;

} // namespace

// What is not the first of many has a connection at once: it is quicker, and a few take little.
bool Wireup::may_begin_by_datagrams(const Peer& peer) const noexcept {
    return lanes_ - waiting_.count() >= queues_.at_once && queues_.stations.may_have_datagrams() &&
           !peer.needs_no_datagrams && !peer.needs_connection() && !may_be_met_on_soft(peer) &&
           peer.address != address();
}

void Wireup::set_promotion(Peer& peer, Promotion promotion) noexcept {
    stand_down(peer);
    promoting_ -= peer.promotion == Promotion::requested;
    promoting_ += promotion == Promotion::requested;
    peer.promotion = promotion;
    silent_ -= peer.silent;
    peer.silent = false;
    end_stall(peer);
}

void Wireup::promote(Peer& peer) noexcept {
    if (!peer.ready() || !peer.lane->by_datagrams() || peer.promotion != Promotion::none) return;
    peer.promotion = Promotion::wanted;
    stand_in_line(peer);
    begun_ = true;
    mark_changed(peer);
    serve_line();
}

int Wireup::make_second(Peer& peer) noexcept {
    return -guarded([&] {
        Station& station = queues_.stations.device();
        peer.second =
            std::make_unique<Lane>(make_queue_pair(station, peer.deep), station, queues_.posting,
                                   queues_.copies, peer, peer.session, peer.received);
        try {
            peers_.add(*peer.second);
        } catch (...) {
            peer.second.reset();
            throw;
        }
        count_lane(*peer.second);
        peer.promotion_attempt = ++attempts_;
        return 0;
    });
}

// The peer that stands in line has its turn. False if there is no queue pair for it after all.
bool Wireup::begin_promotion(Peer& peer) noexcept {
    if (const int error = make_second(peer)) {
        if (make_do(error)) return false;
        give_up_promotion(peer, error);
        return true;
    }
    set_promotion(peer, Promotion::requested);
    await_answer(peer, pace_.wait());
    send(WireupType::promote, peer);
    return true;
}

// Both queue pairs are connected.
void Wireup::agree(Peer& peer) noexcept {
    set_promotion(peer, Promotion::agreed);
    go_over(peer);
}

// As soon as nothing is under way over the first lane.
void Wireup::go_over(Peer& peer) noexcept {
    Lane& first = *peer.lane;
    if (!first.idle()) {
        first.hold(true);
        if (first.untold()) first.probe();
        return;
    }
    first.hold(false);
    std::swap(peer.lane, peer.second);
    peer.promotion = Promotion::done;
    stand_on(connected_, peer);
    if (idle_at_ == kNever) {
        idle_at_ = peer.since + kIdle;
        begun_ = true;
    }
    counters_.connection_opened();
    ++counters_.promotions;
    peer.lane->station().shares().meet();
    mark_changed(peer);
}

// The connection goes, with nothing under way over it on either side.
void Wireup::demote(Peer& peer) noexcept {
    set_link(peer, Link::ready);
    std::swap(peer.lane, peer.second);
    set_promotion(peer, Promotion::none);
    discard(peer.second, true);
    peer.lane->begin_earning();
    ++counters_.demotions;
    mark_changed(peer);
}

void Wireup::look_for_idle(Time now) noexcept {
    if (now < idle_at_) return;
    idle_at_ = kNever;
    for (Peer* peer = connected_.front(); peer;) {
        Peer* next = connected_.after(*peer);
        if (peer->promotion == Promotion::done) {
            idle_at_ = now + kIdle;
            if (!peer->lane->visited() && peer->nothing_waits() && peer->lane->idle()) leave(*peer);
        }
        peer = next;
    }
}

void Wireup::give_up_promotion(Peer& peer, int error) noexcept {
    forget_second(peer);
    peer.lane->hold(false);
    peer.lane->begin_earning();
    mark_changed(peer);
    if (!peer.needs_connection()) return;
    if (error != FI_EAGAIN) return drop(peer, error);
    peer.promotion = Promotion::wanted;
    stand_in_line(peer);
}

void Wireup::forget_second(Peer& peer) noexcept {
    const bool connected = is_connected(peer.promotion);
    set_promotion(peer, Promotion::none);
    if (peer.second) discard(peer.second, connected);
}

// A completion has come over a lane that is about to end, or is one by datagrams.
void Wireup::attend(Lane& lane, bool done) noexcept {
    if (lane.failed()) return bury(lane, done);
    Peer& peer = lane.peer();
    if (peer.lane.get() != &lane) return;
    if (peer.promotion == Promotion::agreed)
        go_over(peer);
    else if (lane.has_earned())
        promote(peer);
}

bool Wireup::is_of_promotion(const Peer& peer, const WireupMessage& m) const noexcept {
    return is_connected(peer.promotion) && m.endpoint == peer.remote_endpoint &&
           m.attempt == peer.remote_promotion_attempt &&
           m.answered_attempt == peer.promotion_attempt;
}

void Wireup::on_promote(Peer& peer, const WireupMessage& m) noexcept {
    if (m.endpoint != peer.remote_endpoint || m.losses != peer.remote_losses) return;
    if (in_doubt(peer.link)) become_ready(peer);
    if (!peer.ready()) return;
    if (m.attempt == peer.remote_promotion_attempt && is_connected(peer.promotion))
        return send(WireupType::promoted, peer);
    // A straggler, or of a peer that has only connections.
    if (!peer.lane->by_datagrams() || m.attempt <= peer.remote_promotion_attempt) return;
    if (is_connected(peer.promotion)) forget_second(peer); // which the peer has given up
    if (!peer.second) {
        if (!has_room()) {
            peer.promotion = Promotion::wanted;
            stand_in_line(peer);
            if (!make_way_for(m)) return answer(WireupType::wait, peer, m);
        }
        if (const int error = make_second(peer)) {
            if (!make_do(error))
                return answer(WireupType::refuse, peer, m, static_cast<uint32_t>(error));
            if (peer.promotion == Promotion::none) {
                peer.promotion = Promotion::wanted;
                stand_in_line(peer);
            }
            ask_to_leave();
            return answer(WireupType::wait, peer, m);
        }
    }
    const int error = connect_lane(*peer.second, m.qp);
    if (error == FI_EAGAIN) { // the peer asks again
        if (peer.promotion != Promotion::requested) give_up_promotion(peer, error);
        return;
    }
    if (error) {
        answer(WireupType::refuse, peer, m, static_cast<uint32_t>(error));
        return give_up_promotion(peer, error);
    }
    peer.remote_promotion_attempt = m.attempt;
    set_promotion(peer, Promotion::accepted);
    await_answer(peer, pace_.wait());
    send(WireupType::promoted, peer);
}

void Wireup::on_promoted(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.promotion == Promotion::requested && m.endpoint == peer.remote_endpoint &&
        m.answered_attempt == peer.promotion_attempt) {
        const int error = connect_lane(*peer.second, m.qp);
        if (error == FI_EAGAIN) return; // we ask again, and are answered again
        if (error) return give_up_promotion(peer, error);
        if (!peer.told_to_wait) pace_.answered(peer.since, Clock::now(), peer.tries > 0);
        peer.remote_promotion_attempt = m.attempt;
        agree(peer);
    } else if (!is_of_promotion(peer, m)) {
        return answer(WireupType::left, peer, m); // the other side shall give it up, too
    } else if (peer.promotion == Promotion::accepted) {
        agree(peer);
    }
    send(WireupType::seen, peer);
}

void Wireup::on_seen(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.promotion == Promotion::accepted && is_of_promotion(peer, m)) agree(peer);
}

} // namespace odrc::ondemand
