// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The exchange: what a datagram means for the peer that sent it.

#include "ondemand/wireup.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

#include <sys/random.h>

namespace odrc::ondemand {
namespace {

// How many of our datagrams the peer's host must turn back before we believe that nobody is there:
// who has not been heard from yet may be about to come.
constexpr uint8_t kRefusals = 5;
constexpr uint8_t kRefusalsOfKnown = 2;

// How many of our frames the peer has, as it says. Who does not know yet that the session has begun
// speaks of the one before, and of more frames than we have sent in this one: none.
uint32_t taken_of(const Peer& peer, const WireupMessage& m) noexcept {
    return is_before(peer.sent, m.received) ? 0 : m.received;
}

// The peer closes, and with it the session, over whatever lane: one that broke, too, whose
// successor it may not know. Any other goodbye says nothing of losses, and ends an attempt.
bool is_last_word(const Peer& peer, const WireupMessage& m) noexcept {
    const bool stands = peer.ready() || peer.promotion == Promotion::done;
    return (stands || peer.replacing) && m.endpoint == peer.remote_endpoint &&
           m.attempt >= peer.remote_attempt && m.losses && m.losses == peer.remote_losses;
}

uint64_t random_id() {
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id) throw Error{errno};
    return id | 1;
}

} // namespace

Wireup::Wireup(PeerTable& peers, StatisticsPage& statistics, const Queues& queues,
               const Address& wanted, const Seal& seal, bool wants_events)
    : adapter_{queues.stations.device().adapter()}
    , peers_{peers}
    , statistics_{statistics}
    , queues_{queues}
    , socket_{wanted, counters_}
    , endpoint_{random_id()}
    , seal_{seal}
    , wants_events_{wants_events}
    , spares_{{adapter_,
               queues.stations.device().cq(),
               queues.stations.device().srq(),
               {kFirstDepth, queues.segments},
               queues.access}} {}

void Wireup::connect(Peer& peer) noexcept {
    peer.wanted = true;
    if (peer.link == Link::laid) return try_out(peer);
    if (peer.link != Link::none || peer.standing() || peer.broken) return;
    peer.begins_by_datagrams = may_begin_by_datagrams(peer);
    stand_in_line(peer);
    if (peer.begins_by_datagrams && may_ask())
        begin(peer); // which takes no queue pair: there is nothing to wait for
    else
        serve_line();
}

// The peer that stands in line has its turn. False if there is no queue pair for it after all.
bool Wireup::begin(Peer& peer) noexcept {
    if (peer.promotion == Promotion::wanted) return begin_promotion(peer);
    const bool met = peer.attempt || peer.remote_attempt;
    if (const int error = make_lane(peer)) {
        if (make_do(error)) return false;
        set_link(peer, Link::none);
        peer.error = error;
        mark_changed(peer);
        return true;
    }
    set_link(peer, Link::requested);
    await_answer(peer, pace_.wait());
    ask(peer);
    if (!met && call(peer)) mark_changed(peer);
    return true;
}

// To ourselves there is nothing to ask: the queue pair is its own peer.
void Wireup::ask(Peer& peer) noexcept {
    if (peer.address != address()) return send(WireupType::request, peer);
    peer.wants_events = wants_events_;
    const int error = connect_lane(*peer.lane, peer.lane->qp().address());
    if (error == FI_EAGAIN) return;
    if (error) return give_up(peer, error);
    peer.taken = peer.received;
    peer.window_out.open_to(peer.received +
                            static_cast<uint32_t>(peer.window_in.left(peer.received)));
    become_ready(peer);
}

void Wireup::handle(Peer* peer, const Address& from, const WireupMessage& message) noexcept {
    if (!peer) { // whom we have forgotten, with what was between us
        if (message.type == WireupType::accept) answer(WireupType::goodbye, from, message);
        return;
    }
    peer->refusals = 0;
    switch (message.type) {
    case WireupType::request:
        return on_request(*peer, message);
    case WireupType::accept:
        return on_accept(*peer, message);
    case WireupType::confirm:
        return on_confirm(*peer, message);
    case WireupType::refuse:
        return on_refuse(*peer, message);
    case WireupType::goodbye:
        return on_goodbye(*peer, message);
    case WireupType::wait:
        return on_wait(*peer, message);
    case WireupType::leave:
        return on_leave(*peer, message);
    case WireupType::stay:
        return on_stay(*peer, message);
    case WireupType::left:
        return on_left(*peer, message);
    case WireupType::ticket:
        return on_ticket(*peer, message);
    case WireupType::elsewhere:
        return on_elsewhere(*peer, message);
    case WireupType::nudge:
        return on_nudge(*peer, message);
    case WireupType::promote:
        return on_promote(*peer, message);
    case WireupType::promoted:
        return on_promoted(*peer, message);
    case WireupType::seen:
        return on_seen(*peer, message);
    }
}

void Wireup::on_request(Peer& peer, const WireupMessage& m) noexcept {
    const bool same = m.endpoint == peer.remote_endpoint;
    if (same) {
        const bool connected = peer.link == Link::accepted || peer.link == Link::ready;
        if (m.attempt == peer.remote_attempt && connected) return send(WireupType::accept, peer);
        if (m.attempt <= peer.remote_attempt) return; // a straggler
    }
    if (!goes_that_way(peer, m)) return answer(WireupType::elsewhere, peer, m);
    // The peer has begun anew. Unless it has left, or we did not know of the old connection yet,
    // that broke, or the peer has given up what went over it, or is another process.
    const bool stands = peer.link == Link::ready || peer.promotion == Promotion::done;
    if (peer.link == Link::leaving && same && peer.promotion != Promotion::done)
        part(peer);
    else if (in_doubt(peer.link))
        break_off(peer);
    else if (stands && same && m.losses == peer.remote_losses)
        replace(peer);
    else if (peer.link == Link::ready || peer.link == Link::leaving)
        drop(peer, FI_ECONNRESET);
    if (leads_elsewhere(peer, m)) call_off(peer);
    if (peer.broken) {
        peer.asked = true;
        return answer(WireupType::wait, peer, m);
    }
    if (peer.link == Link::none) {
        if (!(m.reason & kWanted) && !peer.standing()) return answer(WireupType::goodbye, peer, m);
        if (!(m.reason & kForNow) && !has_room()) {
            stand_in_line(peer);
            if (!make_way_for(m)) return answer(WireupType::wait, peer, m);
        }
        if (const int error = make_lane(peer)) {
            if (!make_do(error))
                return answer(WireupType::refuse, peer, m, static_cast<uint32_t>(error));
            stand_in_line(peer);
            ask_to_leave();
            return answer(WireupType::wait, peer, m);
        }
    }
    peer.wants_events = m.wants_events;
    const int error = is_of_our_kind(peer, m) ? connect_lane(*peer.lane, m.qp) : FI_EOPNOTSUPP;
    if (turns_to_device(peer, error)) {
        step_aside(peer);
        return answer(WireupType::elsewhere, peer, m);
    }
    if (error == FI_EAGAIN) { // the peer asks again
        if (peer.link == Link::none) step_aside(peer);
        return;
    }
    if (peer.link == Link::none) peer.begin();
    peer.crossed = peer.link == Link::requested;
    set_link(peer, Link::accepted);
    greet(peer, m);
    await_answer(peer, pace_.wait());
    if (error) {
        answer(WireupType::refuse, peer, m, static_cast<uint32_t>(error));
        return give_up(peer, error);
    }
    send(WireupType::accept, peer);
}

// What one side's device keeps, and what the other keeps itself, makes no connection.
bool Wireup::is_of_our_kind(const Peer& peer, const WireupMessage& m) const noexcept {
    const bool ours = adapter_.port().by_datagrams, its = m.reason & kByDatagrams;
    if (ours == its) return true;
    ODRC_LOG(level_for(peer), FI_LOG_EP_CTRL,
             "{}: {} has FI_ODRC_RELIABILITY={}, and this process has not", adapter_.port().name(),
             peer.address.text(), its ? "host" : "nic");
    return false;
}

// Who the peer is, of whom we have a request or an acceptance.
void Wireup::greet(Peer& peer, const WireupMessage& m) noexcept {
    const bool same = m.endpoint == peer.remote_endpoint && m.losses == peer.remote_losses;
    if (peer.remote_losses && !same) {
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: {} has lost what was between us, or is another process",
                  adapter_.port().name(), peer.address.text());
        const int32_t window = peer.window_in.left(peer.received); // as the peer was told
        peer.begin_session();
        peer.window_in.widen(peer.received, static_cast<uint32_t>(window));
        peer.lane->enter(peer.session);
        peer.renewed = true;
        mark_changed(peer);
    }
    if (m.endpoint != peer.remote_endpoint) {
        peer.refused_round = peer.asked_round = 0;
        peer.remote_promotion_attempt = 0;
        if (peer.remote_endpoint) tickets_.renew(); // that of its earlier life, above all
    }
    peer.remote_endpoint = m.endpoint;
    peer.remote_attempt = m.attempt;
    peer.remote_losses = m.losses;
    const uint32_t taken = taken_of(peer, m);
    if (m.reason & kCarried || taken != peer.taken) peer.breaks = 0;
    peer.taken = taken;
    peer.window_out.open_to(taken + m.window);
}

void Wireup::on_accept(Peer& peer, const WireupMessage& m) noexcept {
    // Of a connection that is over: the other side shall give it up, too. Whether the session is
    // over with it, it learns from what comes next.
    if (peer.link == Link::none || m.answered_attempt != peer.attempt)
        return answer(WireupType::left, peer, m);
    if (peer.link == Link::requested) {
        if (m.node != node_of(*peer.lane)) return; // nonsense
        if (leads_elsewhere(peer, m)) return call_off(peer);
        peer.wants_events = m.wants_events;
        const int error = connect_lane(*peer.lane, m.qp);
        if (error == FI_EAGAIN) return; // we ask again, and are answered again
        if (turns_to_device(peer, error)) return begin_anew(peer);
        if (error) return give_up(peer, error);
        if (!peer.told_to_wait) pace_.answered(peer.since, Clock::now(), peer.tries > 0);
        greet(peer, m);
    } else if (m.endpoint != peer.remote_endpoint || m.attempt != peer.remote_attempt) {
        return;
    }
    if (peer.link == Link::requested || peer.link == Link::accepted) become_ready(peer);
    send(WireupType::confirm, peer);
}

void Wireup::on_confirm(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link == Link::accepted && is_of_link(peer, m)) become_ready(peer);
}

// The peer's program sends, and this one does not look.
void Wireup::on_nudge(const Peer& peer, const WireupMessage& m) noexcept {
    if (is_of_link(peer, m)) nudged_ = true;
}

void Wireup::on_refuse(Peer& peer, const WireupMessage& m) noexcept {
    const bool of_promotion = peer.promotion == Promotion::requested;
    if (!of_promotion && peer.link != Link::requested) return;
    if (m.answered_attempt != (of_promotion ? peer.promotion_attempt : peer.attempt)) return;
    give_up(peer, m.reason > 0 && m.reason < 4096 ? static_cast<int>(m.reason) : FI_ECONNREFUSED);
}

void Wireup::on_goodbye(Peer& peer, const WireupMessage& m) noexcept {
    const bool closed = is_last_word(peer, m);
    const bool ours =
        peer.link == Link::requested ? m.answered_attempt == peer.attempt : is_of_link(peer, m);
    if (!ours && !closed) return;
    ODRC_INFO(FI_LOG_EP_CTRL, "{}: {} has closed the connection", adapter_.port().name(),
              peer.address.text());
    if (closed) {
        peer.taken = taken_of(peer, m);
        return end(peer);
    }
    // Nothing is under way that could be lost: the peer has withdrawn its request, or what was its
    // wish alone, or has left.
    if (peer.link == Link::leaving) return part(peer);
    if (in_doubt(peer.link) || (peer.link == Link::requested && !peer.wanted))
        return step_aside(peer);
    drop(peer, FI_ECONNRESET);
}

void Wireup::on_nobody_there(Peer& peer) noexcept {
    if (peer.link != Link::requested && peer.link != Link::accepted && peer.link != Link::leaving)
        return;
    if (++peer.refusals >= (peer.replacing ? kRefusalsOfKnown : kRefusals))
        give_up(peer, FI_ECONNREFUSED);
}

} // namespace odrc::ondemand
