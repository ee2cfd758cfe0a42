// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// First words with no round trip before them.
//
// An address of the provider's own format says where its endpoint takes datagrams. So the first
// lane to a peer, if it goes by datagrams, is connected as soon as it is made, all but for the
// number that the peer's side will have; the peer is asked for that side as ever; and behind the
// request goes one frame, which everybody lets come from everybody (srq::Shares::first). It says
// for whom it is by the sender's number, which is in the request. The peer's device keeps it until
// the peer's wireup has taken the request in and made its side, or forgets it, and then it comes
// again (hostrc/unclaimed.hpp). So whether to believe a stranger, and all that has to be agreed, is
// decided where it always is, and what crosses, is lost, or is told to wait is answered as ever.
//
// Until there is an answer nothing but frames goes over the lane: they are all that can be repeated
// whatever becomes of it. If the answer is that of another process, or there are no datagrams on
// the other side, the lane is given up as one that broke, and what has gone out goes again over the
// next, unless the peer says that it has it.
//
// A peer is called once, before anything is known of it.

#include "base/log.hpp"
#include "ondemand/wireup.hpp"

namespace odrc::ondemand {

// Peers begin by datagrams where all do, and in a job that is larger than the connections that are
// made at once. The address that the program gets has to say where they are taken, and nobody who
// has something to say is to wait until there is such a place.
void Wireup::expect_datagrams(const PlaceInJob& place) noexcept {
    if (queues_.stations.may_have_datagrams() && std::max(place.size, 1u) > queues_.at_once)
        queues_.stations.open_datagrams();
}

bool Wireup::call(Peer& peer) noexcept {
    Lane& lane = *peer.lane;
    if (lane.station().datagrams() == 0 || peer.link != Link::requested) return false;
    const auto there = peers_.native_address_of(peer);
    if (!there || there->datagrams == 0) return false;
    if (connect_lane(lane, {.qpn = there->datagrams,
                            .psn = 0,
                            .lid = there->lid,
                            .mtu = there->mtu,
                            .rd_atomic = there->rd_atomic,
                            .gid = there->gid}))
        return false;
    lane.set_frames_only(true);
    peer.window_out.open_to(peer.sent + 1);
    ++counters_.peers_called;
    return peer.called = true;
}

// The peer that was called has answered, for another queue pair than that of its address.
bool Wireup::leads_elsewhere(Peer& peer, const WireupMessage& m) noexcept {
    return peer.called && peer.lane->qp().connect(m.qp) != 0;
}

void Wireup::call_off(Peer& peer) noexcept {
    ODRC_INFO(FI_LOG_EP_CTRL, "{}: {} does not take first words where its address says",
              adapter_.port().name(), peer.address.text());
    break_off(peer);
}

} // namespace odrc::ondemand
