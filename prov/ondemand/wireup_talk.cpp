// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What is heard from peers, said to them, and said again.

#include "base/log.hpp"
#include "ondemand/wireup.hpp"

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// How many datagrams are taken in at a time, and how many more of which nothing is made: these cost
// little, and in a flood of them the kernel's queue is full for whoever is meant to get through.
constexpr uint64_t kAtATime = 64;
constexpr uint64_t kRefusedAtATime = 192;
// An answer is asked for again twice as late each time, up to Pace::kLongestWait, until both so
// much time has passed and so many datagrams have gone out: a process that was stopped meanwhile
// has not asked.
constexpr auto kPatience = 15s;
constexpr uint8_t kTries = 10;
// Who has not answered so many does not hold up others.
constexpr uint8_t kSilent = 5;
// A wireup that takes longer is told of in the log.
constexpr auto kStall = 1s;
// How often those in line look whether somebody can leave for them, or a lane that broke is over.
constexpr auto kLookEvery = 2ms;

const char* name_of(Link link) noexcept {
    switch (link) {
    case Link::none:
        return "not connected";
    case Link::requested:
        return "requested";
    case Link::accepted:
        return "accepted";
    case Link::laid:
    case Link::tried:
        return "connected by addresses alone, and unanswered";
    case Link::ready:
        return "connected";
    case Link::leaving:
        return "asked to leave";
    }
    return "?";
}

const char* state_of(const Peer& peer) noexcept {
    if (peer.link == Link::none || peer.promotion == Promotion::wanted)
        return "in line for a queue pair";
    if (peer.told_to_wait) return "in line for a queue pair of its own";
    if (peer.promotion == Promotion::requested) return "to be promoted, and asked";
    if (peer.promotion == Promotion::accepted) return "to be promoted, and answered";
    return name_of(peer.link);
}

long long ms_since(Time then, Time now) noexcept {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - then).count();
}

uint16_t window_of(const Peer& peer) noexcept {
    return static_cast<uint16_t>(std::max(peer.window_in.left(peer.received), 0));
}

} // namespace

bool Wireup::serve() noexcept {
    const bool emptied = empty_socket();
    const Time now = Clock::now();
    for (Peer* peer = wiring_.front(); peer;) {
        Peer* next = wiring_.after(*peer);
        if (peer->retransmit_at <= now) send_again(*peer, now);
        peer = next;
    }
    if (in_line() > 0) {
        tell_of_stall(*line_.front(), now);
        serve_line();
    }
    look_for_idle(now);
    if (spare_due() <= now) spares_.make_one();
    return emptied;
}

bool Wireup::empty_socket() noexcept {
    const uint64_t refused_before = counters_.wireup_refused;
    std::byte buffer[2 * kWireupBytes];
    WireupSocket::Arrival arrival;
    for (uint64_t taken = 0, most = kAtATime; taken < most; ++taken) {
        if (!socket_.receive(buffer, arrival)) return true;
        if (!arrival.nobody_there)
            take(arrival);
        else if (Peer* peer = peers_.find(arrival.from))
            on_nobody_there(*peer);
        most = kAtATime + std::min(counters_.wireup_refused - refused_before, kRefusedAtATime);
    }
    return false;
}

Time Wireup::deadline() const noexcept {
    Time first = in_line() + breaking_ > 0 ? Clock::now() + kLookEvery : idle_at_;
    for (Peer* peer = wiring_.front(); peer; peer = wiring_.after(*peer))
        first = std::min(first, peer->retransmit_at);
    return first;
}

void Wireup::await_answer(Peer& peer, std::chrono::milliseconds first) noexcept {
    stand_on(wiring_, peer);
    peer.heard = Clock::now();
    peer.tries = 0;
    peer.told_to_wait = false;
    peer.wait = first;
    peer.retransmit_at = peer.heard + first;
}

void Wireup::send_again(Peer& peer, Time now) noexcept {
    if (now - peer.heard >= kPatience && peer.tries >= kTries)
        return peer.link == Link::tried ? give_up_laid(peer) : give_up(peer, FI_ETIMEDOUT);
    tell_of_stall(peer, now);
    if (peer.told_to_wait && in_line() > 0) // another may go first
        return peer.ready() ? give_up_promotion(peer, FI_EAGAIN) : step_aside(peer);
    if (peer.tries < UINT8_MAX) ++peer.tries;
    if (peer.stall_told) show_stall(peer);
    peer.wait = std::min(2 * peer.wait, Pace::kLongestWait);
    peer.retransmit_at = now + peer.wait;
    // Whoever has gone does not say so here, but over the lane that there is.
    if (peer.ready() && (peer.lane->idle() || peer.lane->untold())) peer.lane->probe();
    switch (peer.promotion) {
    case Promotion::requested:
        if (!peer.told_to_wait) late(peer, now);
        return send(WireupType::promote, peer);
    case Promotion::accepted:
        return send(WireupType::promoted, peer);
    default:
        break;
    }
    switch (peer.link) {
    case Link::requested:
        if (!peer.told_to_wait) late(peer, now);
        return ask(peer);
    case Link::accepted:
        return send(WireupType::accept, peer);
    case Link::tried:
        if (peer.lane->idle()) peer.lane->probe(); // there was no room for it
        return;
    default:
        return send(WireupType::leave, peer, peer.leave_round);
    }
}

void Wireup::late(Peer& peer, Time now) noexcept {
    pace_.late(peer.since, now);
    if (peer.silent || peer.tries < kSilent) return;
    peer.silent = true;
    ++silent_;
}

void Wireup::tell_of_stall(Peer& peer, Time now) noexcept {
    if (peer.stall_told || now - peer.began < kStall) return;
    peer.stall_told = true;
    end_stall(peer); // of an earlier wireup
    show_stall(peer);
    ODRC_LOG(level_for(peer), FI_LOG_EP_CTRL,
             "{}: the connection to {} takes its time: it is {}, after {} ms and {} datagrams; "
             "{} peers are in line, of {} queue pairs {} are connected",
             adapter_.port().name(), peer.address.text(), state_of(peer), ms_since(peer.began, now),
             peer.tries + 1, in_line(), most_lanes_, count(Link::ready));
}

// On the page of statistics, where it stays until the wireup is over.
void Wireup::show_stall(Peer& peer) noexcept {
    if (!peer.stall) peer.stall = statistics_.stall(peer.address.text(), peer.began);
    statistics_.stall_goes_on(peer.stall, state_of(peer), peer.tries + 1u);
}

void Wireup::end_stall(Peer& peer) noexcept {
    statistics_.stall_is_over(std::exchange(peer.stall, uint8_t{0}));
}

// Who had a connection and has nobody at its address any more was not refused, but lost its peer.
void Wireup::give_up(Peer& peer, int error) noexcept {
    if (peer.replacing && error == FI_ECONNREFUSED) error = FI_ECONNRESET;
    const bool asked = peer.link == Link::requested;
    const char* perhaps = "";
    if (asked && error == FI_ETIMEDOUT)
        perhaps = "; one with another key would not answer, either";
    else if (asked && error == FI_EOPNOTSUPP)
        perhaps = "; it has another FI_ODRC_RELIABILITY";
    ODRC_LOG(level_for(peer), FI_LOG_EP_CTRL,
             "{}: no connection to {}: {} (it was {}, after {} datagrams and {} ms){}",
             adapter_.port().name(), peer.address.text(), fi_strerror(error), state_of(peer),
             peer.tries + 1, ms_since(peer.began, Clock::now()), perhaps);
    if (peer.ready()) return give_up_promotion(peer, error);
    drop(peer, error);
}

void Wireup::send(WireupType type, Peer& peer, uint32_t reason) noexcept {
    const bool answers = peer.link != Link::requested || type == WireupType::goodbye;
    const bool introduces = type == WireupType::request || type == WireupType::accept;
    const bool of_second = type == WireupType::promote || type == WireupType::promoted ||
                           type == WireupType::seen ||
                           (type == WireupType::leave && peer.promotion == Promotion::done);
    Lane* lane = of_second ? &peer.connection() : peer.lane.get();
    if (introduces)
        reason = (peer.wanted ? kWanted : 0) | (peer.carried ? kCarried : 0) |
                 (adapter_.port().by_datagrams ? kByDatagrams : 0) |
                 (lane->by_datagrams() ? kForNow : 0);
    const WireupMessage message{.type = type,
                                .endpoint = endpoint_,
                                .to = answers ? peer.remote_endpoint : 0,
                                .ticket = answers ? 0 : peer.ticket,
                                .attempt = of_second ? peer.promotion_attempt : peer.attempt,
                                .answered_attempt = of_second ? peer.remote_promotion_attempt
                                                    : answers ? peer.remote_attempt
                                                              : 0,
                                .losses = peer.own_losses,
                                .received = peer.received,
                                .reason = reason,
                                .qp = lane ? lane->qp().address() : verbs::QpAddress{},
                                .wants_events = wants_events_,
                                .window = introduces ? window_of(peer) : uint16_t{0},
                                .node = peer.lane ? node_of(*peer.lane) : 0};
    send(peer.address, message);
}

// Says something of the attempts that the message is about, whatever there is now.
void Wireup::answer(WireupType type, const Address& to, const WireupMessage& m,
                    uint32_t reason) noexcept {
    const WireupMessage message{.type = type,
                                .endpoint = endpoint_,
                                .to = m.endpoint,
                                .ticket =
                                    type == WireupType::ticket ? tickets_.of(to, m.endpoint) : 0,
                                .attempt = m.answered_attempt,
                                .answered_attempt = m.attempt,
                                .losses = 0,
                                .received = 0,
                                .reason = reason,
                                .qp = {},
                                .wants_events = 0,
                                .window = 0,
                                .node = 0};
    send(to, message);
}

void Wireup::send(const Address& to, const WireupMessage& message) noexcept {
    WireupDatagram datagram = encode(message);
    seal_.put(datagram, to);
    socket_.send(to, datagram);
}

} // namespace odrc::ondemand
