// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Over which device a peer is met: those of this host on soft0, beside the domain's device.
//
// Whether a peer can be met there nobody knows beforehand: it may be in another container or of
// another user, or not want to. So who begins makes a guess, that whoever has an address of this
// host can be, and names in its request the node of soft0 that its queue pair is of. Who is not of
// that node says that it is elsewhere, and is asked again, over the device: that costs one more way
// there and back, and only then. The device is what everybody has: it is never declined, and who
// has once asked for it, or been asked, stays with it for that peer. Who has been connected on
// soft0 stays there. So in a session all lanes are over one device, and what is said in it of keys
// holds.
//
// That requests which cross make one connection, whatever they ask for: two of a kind do as ever.
// If one is over soft0 and the other over the device, who asked for soft0 takes that back and
// accepts the other one, and who asked for the device says that it is elsewhere: to an attempt
// that is over then, or will be asked for again over the device.
//
// Who finds, when it connects, that it cannot reach the peer's memory (no descriptor, no address
// space is left for that) does as if one of them were elsewhere.
//
// Peers whose addresses have the same IP address as ours, which both sides see alike, have no lanes
// laid to them by their addresses alone, but meet on soft0 at the first word.

#include "base/log.hpp"
#include "ondemand/wireup.hpp"

namespace odrc::ondemand {
namespace {

bool same_host(Address a, Address b) noexcept {
    a.set_port(0);
    b.set_port(0);
    return a == b;
}

} // namespace

bool Wireup::may_be_met_on_soft(const Peer& peer) const noexcept {
    return peer.way == Way::soft ||
           (peer.way == Way::open && queues_.stations.node() && is_local(peer.address));
}

// Where the next lane to the peer is made.
Station& Wireup::station_for(Peer& peer) noexcept {
    Stations& stations = queues_.stations;
    if (may_be_met_on_soft(peer)) {
        peer.way = Way::soft;
        if (Station* soft = stations.open_soft()) return *soft;
    }
    peer.way = Way::device;
    if (peer.begins_by_datagrams)
        if (Station* datagrams = stations.open_datagrams()) return *datagrams;
    return stations.device();
}

// Whether the peer's queue pair is one that we can connect to. Then the next lane to it is over
// that device.
bool Wireup::goes_that_way(Peer& peer, const WireupMessage& request) noexcept {
    Stations& stations = queues_.stations;
    if (request.node == 0) {
        const bool for_now = request.reason & kForNow;
        if (for_now && !adapter_.port().by_datagrams && !stations.open_datagrams()) return false;
        peer.way = Way::device;
        if (peer.link == Link::requested) {
            if (for_now && !peer.lane->by_datagrams() && !peer.lane->station().beside())
                return false;
            if (peer.lane->station().beside() || peer.lane->by_datagrams() != for_now)
                step_aside(peer);
        }
        peer.begins_by_datagrams = for_now;
        return true;
    }
    if (peer.way == Way::device || request.node != stations.node() || !stations.open_soft())
        return false;
    peer.way = Way::soft;
    return true;
}

void Wireup::on_elsewhere(Peer& peer, const WireupMessage& m) noexcept {
    if (peer.link != Link::requested || m.answered_attempt != peer.attempt) return;
    if (peer.lane->by_datagrams()) {
        peer.needs_no_datagrams = true;
        peer.begins_by_datagrams = false;
        return peer.called ? call_off(peer) : begin_anew(peer);
    }
    if (!peer.lane->station().beside()) return;
    const bool told = parameters().intranode == Intranode::soft;
    ODRC_LOG(told ? FI_LOG_WARN : FI_LOG_INFO, FI_LOG_EP_CTRL,
             "{}: {} is of this host, and not met on soft0: it is of another user or container, or "
             "has FI_ODRC_INTRANODE=device",
             adapter_.port().name(), peer.address.text());
    peer.way = Way::device;
    begin_anew(peer);
}

// Its lane is one on soft0 that does not connect: this process has no descriptor or no room left
// for the peer's memory, or is kept out of it. Soft0 has told why; the device is what everybody
// has.
bool Wireup::turns_to_device(Peer& peer, int error) noexcept {
    if (!error || error == FI_EAGAIN || !peer.lane->station().beside()) return false;
    peer.way = Way::device;
    return true;
}

// The lane that was asked for goes, and the next one is asked for.
void Wireup::begin_anew(Peer& peer) noexcept {
    forget_lane(peer);
    stand_in_line(peer);
    serve_line();
}

bool Wireup::is_met_on_soft(const NativeAddress& peer) const noexcept {
    return queues_.stations.node() && same_host(peer.socket, address());
}

} // namespace odrc::ondemand
