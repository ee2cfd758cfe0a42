// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The exchange: what is said to peers, heard from them, and said again.

#include "ondemand/wireup.hpp"

#include "base/log.hpp"

#include <random>

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// An answer is asked for again after 50 ms, then twice as long each time up to a second; a peer
// that is there answers at once, whatever its application does (its watchdog sees to it).
constexpr auto kFirstWait = 50ms;
constexpr auto kLongestWait = 1000ms;
constexpr auto kPatience = 15s;
// How many of our datagrams the peer's host must turn back before we believe that nobody is there.
constexpr uint8_t kRefusals = 5;

uint64_t random_id() {
    std::random_device random;
    return uint64_t{random()} << 32 | random() | 1;
}

const char* name_of(Link link) noexcept {
    switch (link) {
    case Link::none:
        return "not connected";
    case Link::requested:
        return "requested";
    case Link::accepted:
        return "accepted";
    case Link::ready:
        return "connected";
    }
    return "?";
}

} // namespace

Wireup::Wireup(verbs::Adapter& adapter, PeerTable& peers, Counters& counters, const Queues& queues,
               const Address& wanted, bool wants_events)
    : adapter_{adapter}
    , peers_{peers}
    , counters_{counters}
    , queues_{queues}
    , socket_{wanted, counters}
    , endpoint_{random_id()}
    , wants_events_{wants_events} {}

int Wireup::connect(Peer& peer) noexcept {
    if (peer.link != Link::none) return 0;
    if (const int error = make_lane(peer)) return error;
    if (peer.address == address()) { // to ourselves: the queue pair is its own peer
        if (const int error = connect_lane(peer, peer.lane->qp().address(), wants_events_)) {
            forget_lane(peer);
            return error;
        }
        become_ready(peer);
        return 0;
    }
    peer.link = Link::requested;
    await_answer(peer);
    send(WireupType::request, peer);
    return 0;
}

void Wireup::serve() noexcept {
    std::byte buffer[2 * kWireupBytes];
    for (WireupSocket::Arrival arrival; socket_.receive(buffer, arrival);) {
        Peer* peer = nullptr;
        if (arrival.nobody_there) {
            peer = peers_.find(arrival.from);
            if (peer) on_nobody_there(*peer);
            continue;
        }
        if (const auto message = decode(arrival.datagram))
            handle(arrival.from, *message);
        else
            ODRC_INFO(FI_LOG_EP_CTRL, "{}: a datagram of {} bytes from {} is no wireup message",
                      adapter_.port().name(), arrival.datagram.size(), arrival.from.text());
    }
    const Time now = Clock::now();
    for (Peer* peer = wiring_.front(); peer;) {
        Peer* next = wiring_.after(*peer);
        if (peer->retransmit_at <= now) send_again(*peer, now);
        peer = next;
    }
}

Time Wireup::deadline() const noexcept {
    Time first = kNever;
    for (Peer* peer = wiring_.front(); peer; peer = wiring_.after(*peer))
        first = std::min(first, peer->retransmit_at);
    return first;
}

void Wireup::handle(const Address& from, const WireupMessage& message) noexcept {
    Peer* peer = peers_.find(from);
    if (!peer) return; // no memory: the sender will try again
    switch (message.type) {
    case WireupType::request:
        return on_request(*peer, message);
    case WireupType::accept:
        return on_accept(*peer, message);
    case WireupType::confirm:
        if (peer->link == Link::accepted && message.answered_attempt == peer->attempt &&
            message.endpoint == peer->remote_endpoint)
            become_ready(*peer);
        return;
    case WireupType::refuse:
        return on_refuse(*peer, message);
    case WireupType::goodbye:
        return on_goodbye(*peer, message);
    }
}

void Wireup::on_request(Peer& peer, const WireupMessage& m) noexcept {
    const bool connected = peer.link == Link::accepted || peer.link == Link::ready;
    if (m.endpoint == peer.remote_endpoint) {
        if (m.attempt == peer.remote_attempt && connected) return send(WireupType::accept, peer);
        if (m.attempt <= peer.remote_attempt) return; // a straggler
    }
    // The peer has begun anew: it has lost the old connection, or is another process.
    if (connected) drop(peer, FI_ECONNRESET);
    if (peer.link == Link::none)
        if (const int error = make_lane(peer)) return refuse(peer, m, error);
    peer.link = Link::accepted;
    peer.remote_endpoint = m.endpoint;
    peer.remote_attempt = m.attempt;
    await_answer(peer);
    if (const int error = connect_lane(peer, m.qp, m.wants_events)) {
        refuse(peer, m, error);
        return give_up(peer, error);
    }
    send(WireupType::accept, peer);
}

void Wireup::on_accept(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link == Link::none || m.answered_attempt != peer.attempt) {
        // Of a connection that we have given up: the other side shall do so too.
        const WireupMessage goodbye{.type = WireupType::goodbye,
                                    .endpoint = endpoint_,
                                    .attempt = m.answered_attempt,
                                    .answered_attempt = m.attempt,
                                    .reason = 0,
                                    .qp = {},
                                    .wants_events = 0};
        return socket_.send(peer.address, encode(goodbye));
    }
    if (peer.link == Link::requested) {
        if (const int error = connect_lane(peer, m.qp, m.wants_events)) return give_up(peer, error);
        peer.remote_endpoint = m.endpoint;
        peer.remote_attempt = m.attempt;
    } else if (m.endpoint != peer.remote_endpoint || m.attempt != peer.remote_attempt) {
        return;
    }
    if (peer.link != Link::ready) become_ready(peer);
    send(WireupType::confirm, peer);
}

void Wireup::on_refuse(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link != Link::requested || m.answered_attempt != peer.attempt) return;
    give_up(peer, m.reason > 0 && m.reason < 4096 ? static_cast<int>(m.reason) : FI_ECONNREFUSED);
}

void Wireup::on_goodbye(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link == Link::none || m.answered_attempt != peer.attempt) return;
    ODRC_INFO(FI_LOG_EP_CTRL, "{}: {} has closed the connection ({})", adapter_.port().name(),
              peer.address.text(), name_of(peer.link));
    drop(peer, FI_ECONNRESET);
}

void Wireup::on_nobody_there(Peer& peer) noexcept {
    if (peer.link != Link::requested && peer.link != Link::accepted) return;
    if (++peer.refusals >= kRefusals) give_up(peer, FI_ECONNREFUSED);
}

void Wireup::await_answer(Peer& peer) noexcept {
    peer.began = Clock::now();
    peer.tries = peer.refusals = 0;
    peer.retransmit_at = peer.began + kFirstWait;
    if (!static_cast<ListNode<Wiring>&>(peer).linked()) wiring_.push_back(peer);
}

void Wireup::send_again(Peer& peer, Time now) noexcept {
    if (now - peer.began >= kPatience) return give_up(peer, FI_ETIMEDOUT);
    ++peer.tries;
    const auto wait = kFirstWait * (1u << std::min<uint8_t>(peer.tries, 10));
    peer.retransmit_at = now + std::min<std::chrono::milliseconds>(wait, kLongestWait);
    send(peer.link == Link::requested ? WireupType::request : WireupType::accept, peer);
}

void Wireup::give_up(Peer& peer, int error) noexcept {
    const auto age =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - peer.began);
    ODRC_WARN(FI_LOG_EP_CTRL,
              "{}: no connection to {}: {} (it was {}, after {} datagrams and {} ms)",
              adapter_.port().name(), peer.address.text(), fi_strerror(error), name_of(peer.link),
              peer.tries + 1, age.count());
    drop(peer, error);
}

void Wireup::send(WireupType type, const Peer& peer, uint32_t reason) noexcept {
    const bool answers = peer.link != Link::requested;
    const WireupMessage message{.type = type,
                                .endpoint = endpoint_,
                                .attempt = peer.attempt,
                                .answered_attempt = answers ? peer.remote_attempt : 0,
                                .reason = reason,
                                .qp = peer.lane->qp().address(),
                                .wants_events = wants_events_};
    socket_.send(peer.address, encode(message));
}

void Wireup::refuse(const Peer& peer, const WireupMessage& request, int reason) noexcept {
    const WireupMessage message{.type = WireupType::refuse,
                                .endpoint = endpoint_,
                                .attempt = 0,
                                .answered_attempt = request.attempt,
                                .reason = static_cast<uint32_t>(reason),
                                .qp = {},
                                .wants_events = 0};
    socket_.send(peer.address, encode(message));
}

} // namespace odrc::ondemand
