// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whom we believe, and how much is kept of those whom we do not know.
//
// Three things make a datagram one that is acted upon:
//
//   its seal (seal.hpp)   Made with our key, for the address at which it came in.
//   whom it names         Our endpoint's number, which is random and new in each life; or, in a
//                         request, a ticket.
//   the attempts          Those of the link that there is, or in a request a later one; or, in the
//                         last word of who closes, the session that there is.
//
// So what is replayed does nothing. At another endpoint the seal is wrong. At a later endpoint of
// the same address nobody has the number or the ticket that it names. At the same endpoint the
// attempts tell: a request counts once, and everything else belongs to a link that is over, or says
// again what it has said.
//
// A ticket (tickets.hpp) binds a request to the address from which it comes as we see it, which its
// sender need not know, to the sender's life, and to ours. Without the right one a request is
// answered by one and nothing else: no peer is made, and the answer, no longer than the request,
// goes to whoever has that address. A copy from another address only makes its owner get what it
// did not ask for. That we know the attempts of all whose tickets are good is what tickets rest on:
// when a peer is forgotten, or comes back in another life, all are renewed, and cost the others one
// more question at their next request.
//
// Without a key, who could replay can as well invent, and a question for everyone would cost every
// first word a way there and back. Then tickets are asked for in a crowd alone, as TCP has cookies
// for (RFC 4987): so that addresses from which nobody speaks do not fill the room of those from
// which somebody does.

#include "base/log.hpp"
#include "ondemand/wireup.hpp"

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// Wireups that peers began and whoever stands in line: from here on it is a crowd.
constexpr uint64_t kCrowd = 64;
// How many strangers are looked at, to be forgotten, when another one comes.
constexpr size_t kLooks = 8;
// Each kind of refusal is told of in the log so often at most: a flood must not flood it.
constexpr auto kTellEvery = 60s;

// In the order of Refusal.
constexpr const char* kReasons[] = {
    "it is no wireup message of this version",
    "it is not sealed with the key of this endpoint (auth_key, FI_ODRC_KEY)",
    "it is not meant for this endpoint, or no more",
};

} // namespace

void Wireup::take(const WireupSocket::Arrival& arrival) noexcept {
    const auto message = decode(arrival.datagram);
    if (!message) return refuse(arrival.from, Refusal::nonsense);
    if (!seal_.holds(arrival.datagram, arrival.to)) return refuse(arrival.from, Refusal::seal);
    const bool request = message->type == WireupType::request;
    if (message->endpoint == endpoint_ || (!request && message->to != endpoint_))
        return refuse(arrival.from, Refusal::not_meant);
    if (!request) return handle(peers_.find(arrival.from), arrival.from, *message);
    if (!believes(arrival.from, *message)) return give_ticket(arrival.from, *message);
    // There may be no room for another stranger: it asks again, as one that waits in line.
    if (Peer* peer = meet(arrival.from)) return handle(peer, arrival.from, *message);
    answer(WireupType::wait, arrival.from, *message);
}

bool Wireup::believes(const Address& from, const WireupMessage& request) const noexcept {
    const bool crowded = count(Link::accepted) + in_line() >= kCrowd;
    return (!seal_.keyed() && !crowded) || request.ticket == tickets_.of(from, request.endpoint);
}

void Wireup::give_ticket(const Address& from, const WireupMessage& request) noexcept {
    if (request.ticket) refuse(from, Refusal::not_meant); // an old one, or somebody else's
    answer(WireupType::ticket, from, request);
}

void Wireup::on_ticket(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link != Link::requested || m.answered_attempt != peer.attempt) return;
    if (std::exchange(peer.ticket, m.ticket) != m.ticket) send(WireupType::request, peer);
}

Peer* Wireup::meet(const Address& from) noexcept {
    if (peers_.crowded() && peers_.forget_strangers(kLooks) && seal_.keyed()) tickets_.renew();
    return peers_.meet(from);
}

void Wireup::refuse(const Address& from, Refusal why) noexcept {
    ++counters_.wireup_refused;
    const auto reason = static_cast<size_t>(why);
    Time& tell_at = tell_refusal_at_[reason];
    const Time now = Clock::now();
    if (now < tell_at) return;
    tell_at = now + kTellEvery;
    // Stragglers of an endpoint that was here before are nothing to worry about.
    ODRC_LOG(why == Refusal::not_meant ? FI_LOG_INFO : FI_LOG_WARN, FI_LOG_EP_CTRL,
             "{}: a datagram from {} is refused: {} ({} have been, in all)", adapter_.port().name(),
             from.text(), kReasons[reason], counters_.wireup_refused);
}

} // namespace odrc::ondemand
