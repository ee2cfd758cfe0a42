// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/seal.hpp"
#include "verbs_rc/queue_pair.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace odrc::ondemand {

// The datagrams that make and end connections. Who sends one is known by its source address,
// which is the sender's libfabric address. Each names the attempt of either side it belongs
// to, so that a duplicate or a straggler is recognised, and all can be repeated without harm. What
// keeps strangers out is told in wireup_strangers.cpp.
enum class WireupType : uint8_t {
    request = 1, // connect to me: my queue pair is this one; reason is of the bits below
    accept = 2,  // I am connected to your queue pair, and this is mine; likewise
    confirm = 3, // I am connected to yours: send
    refuse = 4,  // I cannot connect to you; reason is a fi_errno value
    goodbye = 5, // the connection of these attempts has ended; with losses: I have closed
    wait = 6,    // I have no queue pair for you now; I connect to you when I have
    leave = 7,   // I have nothing for you, and want my queue pair for another; reason is a number
    stay = 8,    // not now: I have something for you; reason is the number of what this answers
    left = 9,    // I have given up the connection of these attempts
    ticket = 10, // to a request: say that again with this ticket, so that I know it is you
    elsewhere = 11, // to a request: I am not where your queue pair is: come over the device
    nudge = 12,     // something waits here until you let me send more: look whether you can
    promote = 13,   // beside the datagrams that we have: connect to me, my queue pair is this one
    promoted = 14,  // I am connected to it, and this is mine
    seen = 15,      // I am connected to yours
};

// Why there is to be a connection.
inline constexpr uint32_t kWanted = 1;  // I want it; else: if you still want to
inline constexpr uint32_t kCarried = 2; // the last one broke, but had carried something
// Not why, but of which kind.
inline constexpr uint32_t kByDatagrams = 4; // we keep it ourselves (verbs::Port::by_datagrams)
inline constexpr uint32_t kForNow = 8;      // likewise, until you earn a connection

struct WireupMessage {
    WireupType type;
    uint64_t endpoint;         // random, of the sender: tells a restarted process from the old one
    uint64_t to;               // that of the receiver; 0 in a request, whose ticket tells
    uint64_t ticket;           // in a request, the receiver's; 0: none; in a ticket, it
    uint32_t attempt;          // of the sender, counted up from 1
    uint32_t answered_attempt; // of the receiver that this answers; 0: none known
    uint32_t losses;           // of the sender (Peer::own_losses)
    uint32_t received;         // of the receiver's frames, in all that has losses (Peer::taken)
    uint32_t reason;
    verbs::QpAddress qp;  // of the sender, in requests and acceptances of either kind
    uint8_t wants_events; // likewise; 1: to be told of reads and writes of its memory
    uint16_t window;      // likewise: beyond those received, so many frames may come
    uint64_t node;        // likewise: of soft0, if the queue pair is there (Stations::node); else 0
};

// Layout on the wire, little-endian, no padding:
//   magic 4 | version 1 | type 1 | bytes 2 | endpoint 8 | to 8 | ticket 8 | attempt 4 |
//   answered_attempt 4 | losses 4 | received 4 | reason 4 | qpn 4 | psn 4 | lid 2 | mtu 1 |
//   rd_atomic 1 | GID 16 | wants_events 1 | window 2 | node 8 | seal 16
inline constexpr size_t kWireupBytes = 91 + Seal::kBytes;
inline constexpr uint8_t kWireupVersion = 16;

using WireupDatagram = std::array<std::byte, kWireupBytes>;
WireupDatagram encode(const WireupMessage& message) noexcept; // yet to be sealed

// None unless the datagram is whole, of our version, and every field is in its range. Its seal is
// not looked at.
std::optional<WireupMessage> decode(std::span<const std::byte> datagram) noexcept;

} // namespace odrc::ondemand
