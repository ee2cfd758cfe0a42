// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Lanes that are laid by the addresses alone, with no datagram (Xu et al. 2024), or by lists of
// what these have no room for.
//
// Each side has a queue pair for the other, both addresses say which, and each side connects its
// own when its program names the peer: this one, it cannot know whether the other has. Until then
// the peer's device drops what comes. So before anything else goes over a lane, a probe does, which
// writes nothing. The device repeats it for half a second; when it has arrived, or a frame has come
// in, the peer's queue pair is connected to ours, and the link is ready. If it does not arrive,
// nothing is lost, for nothing else was sent: the lane is given up, and the wireup makes another.
//
// That both sides agree on what became of a lane:
// - Both probe: each finds the other's queue pair, or none does and both fall back; then their
//   requests cross, as ever.
// - One side gives the lane up (its probe failed) that the other has not tried: the request that
//   follows tells the other to give it up, too. What the other has not heard of, its own probe
//   tells: there is no queue pair any more that answers.
// - One side gives it up while the other's probe arrived: then the other was connected when the
//   device sent the last repetition of the first one's probe, but not when it arrived. In that
//   twentieth of a second, half a second after the peer's first word, a lane can break that is
//   ready on one side, and may have carried something. It is replaced as any that breaks.
// - A request of the wireup comes in while our side is in doubt: the peer has given the lane up.
// - One side has been given the other's list of queue pairs (range_list.hpp), and lays a lane by
//   it, and the other has not been given this one's, or not yet: as if it had not been named.
// - One side closes, and has never heard of the other: it tells nobody. Who had its queue pair
//   connected learns by its probe or, after that arrived, by its first work request that fails.
// Whoever gives a lane up that is in doubt waits for its end, as for that of one that broke: what
// the peer has sent over it, if anything, lies in our completion queue, and is counted before the
// peer is told how much has come.
//
// Peers of this host that are met on soft0 are left to the wireup (wireup_way.cpp).
//
// Attempts, ids and sessions are those of a wireup whose datagrams nobody had to send: attempts and
// losses are kLaidAttempt on both sides, the ids are in the addresses, and frames are counted from
// zero. So asking to leave, goodbyes, stragglers and repeats are as ever. All this is one side's
// guess until something comes over the lane: the peer may not have laid it, and speak of other
// losses, or be another process. If nothing has come when it is given up, nothing is known of the
// peer, and the session begins with the wireup.

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "ondemand/wireup.hpp"
#include "verbs_rc/turn.hpp"

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstLook = 2ms;

// Endpoints with different keys are of different jobs. It is not this that keeps them apart
// (first_psn), but it spares them the probes that nobody answers.
PlaceInJob keyed(const Seal& seal, PlaceInJob place) noexcept {
    place.job = static_cast<uint16_t>(seal.number(std::as_bytes(std::span{&place.job, 1})));
    return place;
}

} // namespace

void Wireup::prepare(Connect wish, const PlaceInJob& place, bool lists) noexcept {
    Choice choice{};
    const int error = guarded([&] {
        choice = make_beforehand(wish, place, lists);
        return 0;
    });
    const std::string device = adapter_.port().name();
    if (error)
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: connects on demand: {}", device, fi_strerror(-error));
    else if (choice.all)
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: has queue pairs for {} of {} processes, in {} ranges: {}",
                  device, waiting_.count(), place.size, waiting_.list().size(), choice.why);
    else if (wish == Connect::all) // who asked for it is to know
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: connects on demand: {}", device, choice.why);
    else
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: connects on demand: {}", device, choice.why);
}

// Throws Error and std::bad_alloc, and keeps nothing then.
Choice Wireup::make_beforehand(Connect wish, const PlaceInJob& place, bool lists) {
    const Circumstances circumstances{wish, place, queues_.most_lanes, processes_of_this_host(),
                                      adapter_.port().by_datagrams};
    Choice choice = choose(circumstances);
    if (!choice.all) return choice;
    const verbs::QueuePairKind& kind = spares_.kind();
    std::vector<verbs::QueuePair> made;
    {
        const verbs::Turn turn{adapter_.port()};
        const verbs::Cost cost = verbs::cost_of_one(kind);
        choice = choose(circumstances, cost.creation + cost.connection);
        if (!choice.all) return choice;
        verbs::create(kind, place.size, verbs::threads_for(place.size, cost.creation), made);
    }
    lanes_ += static_cast<uint32_t>(
        waiting_.keep(std::move(made), keyed(seal_, place), native_address(), lists));
    return choice;
}

NativeAddress Wireup::native_address() const noexcept {
    const verbs::QpAddress local = verbs::local_address(adapter_.port());
    return {.socket = address(),
            .place = waiting_.place(),
            .endpoint = endpoint_,
            .lid = local.lid,
            .mtu = local.mtu,
            .rd_atomic = local.rd_atomic,
            .gid = local.gid,
            .wants_events = wants_events_,
            .datagrams = queues_.stations.takes_first_words(),
            .ranges = waiting_.ranges()};
}

RangeList Wireup::range_list() const {
    return {.place = waiting_.place(), .endpoint = endpoint_, .ranges = waiting_.list()};
}

void Wireup::introduce(const NativeAddress& address, const RangeList* list) noexcept {
    const auto remote_qpn = waiting_.meeting(address, list);
    if (!remote_qpn || !waiting_.has(address.place.rank)) return;
    Peer* peer = peers_.know(address.socket);
    if (!peer) return; // no memory: the wireup will see
    verbs::QueuePair qp = waiting_.take(address.place.rank);
    // If the wireup has been quicker, or has to do it, that is none of use.
    if (is_met_on_soft(address) || !peer->unknown() ||
        !lay(*peer, std::move(qp), address, *remote_qpn))
        --lanes_;
}

bool Wireup::lay(Peer& peer, verbs::QueuePair&& qp, const NativeAddress& address,
                 uint32_t remote_qpn) noexcept {
    const QueueName own{endpoint_, qp.number()}, theirs{address.endpoint, remote_qpn};
    qp.begin_at(first_psn(seal_, own, theirs));
    const verbs::QpAddress remote{.qpn = remote_qpn,
                                  .psn = first_psn(seal_, theirs, own),
                                  .lid = address.lid,
                                  .mtu = address.mtu,
                                  .rd_atomic = address.rd_atomic,
                                  .gid = address.gid};
    const int error = -guarded([&] {
        peer.lane =
            std::make_unique<Lane>(std::move(qp), queues_.stations.device(), queues_.posting,
                                   queues_.copies, peer, peer.session, peer.received);
        if (const int refused = connect_lane(*peer.lane, remote)) return -refused;
        peers_.add(*peer.lane);
        return 0;
    });
    if (error) {
        peer.lane.reset();
        return false;
    }
    peer.attempt = peer.remote_attempt = kLaidAttempt;
    peer.own_losses = peer.remote_losses = kLaidAttempt;
    peer.remote_endpoint = address.endpoint;
    peer.wants_events = address.wants_events;
    peer.sent_by_ring = peer.received_by_ring = 0;
    peer.way = Way::device;
    const uint32_t window = srq::Shares::first_in_job(address.place.size);
    peer.window_out.open_to(window);
    peer.window_in.widen(peer.received, window);
    set_link(peer, Link::laid);
    stand_on(laid_, peer);
    return true;
}

void Wireup::try_out(Peer& peer) noexcept {
    peer.begin();
    set_link(peer, Link::tried);
    await_answer(peer, kFirstLook);
    peer.lane->probe();
}

bool Wireup::fall_back(Lane& lane) noexcept {
    Peer& peer = lane.peer();
    if (peer.lane.get() != &lane) return false;
    if (peer.called)
        call_off(peer);
    else if (peer.link == Link::tried || peer.link == Link::laid)
        give_up_laid(peer);
    else
        return false;
    return true;
}

void Wireup::give_up_laid(Peer& peer) noexcept {
    ODRC_INFO(FI_LOG_EP_CTRL, "{}: {} did not answer on the queue pair of its address",
              adapter_.port().name(), peer.address.text());
    break_off(peer);
}

// The lane goes as if it had never been: nothing ever went over it, and all is ending.
void Wireup::lift(Peer& peer) noexcept {
    set_link(peer, Link::none);
    peers_.remove(*peer.lane);
    peer.lane.reset();
    --lanes_;
}

bool Wireup::take_back_waiting() noexcept {
    if (!waiting_.drop_one()) return false;
    --lanes_;
    return true;
}

} // namespace odrc::ondemand
