// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "hostrc/round_trip.hpp"

#include <bit>
#include <cstdint>

namespace odrc::host {

// What two of these devices say to each other: one datagram each, this header and then data.
enum class PacketKind : uint8_t {
    // in their turn, each once: they have numbers
    send = 1, // a piece of a message, for a receive of the other side
    write,    // a piece of an RDMA write, that says itself where it goes
    read,     // asks for an answer of so many bytes
    swap,     // compares and swaps 8 bytes; its data: compare, swap; asks for an answer of 8
    add,      // fetches and adds; its data: the summand; likewise
    answer,   // a piece of what the oldest read, swap or add that has none yet asked for
    // at any time, and lost without harm
    acknowledge, // nothing but that
    not_ready,   // there is no receive for the send whose number is acknowledged: later
    refused,     // that number asks for what it must not: its status is an ibv_wc_status
};

constexpr bool is_numbered(PacketKind kind) noexcept { return kind <= PacketKind::answer; }

inline constexpr uint8_t kFirst = 1;     // piece of its work request
inline constexpr uint8_t kLast = 2;      // likewise
inline constexpr uint8_t kImmediate = 4; // the last piece completes with the value
inline constexpr uint8_t kAsks = 8;      // for an acknowledgement at once
inline constexpr uint8_t kGap = 16;      // later packets have come than what is acknowledged

inline constexpr uint8_t kPacketVersion = 2;

// Who speaks first may know where, and not yet to which connection: the receiver finds that by the
// sender's number, or keeps the packet until it has made it.
inline constexpr uint32_t kNobody = 0;

// Little-endian. What is said to another connection, or of another version, is dropped.
struct Packet {
    uint32_t to;   // the receiver's number of the connection, or kNobody
    uint32_t from; // the sender's
    uint32_t number;
    uint32_t acknowledged; // all packets before this one have come
    uint8_t version;
    PacketKind kind;
    uint8_t flags;
    uint8_t status;     // of a refusal
    uint32_t immediate; // as the work request has it
    uint32_t key;       // of reads, writes, swaps and adds: the region
    uint32_t length;    // of a read; of a gap: how many are missing, or 0 where none behind is kept
    uint64_t address;   // of reads, swaps, adds, and of each piece of a write
    Stamp sent;
    Stamp echo; // of what is acknowledged: when that was sent
};
static_assert(sizeof(Packet) == 48);
static_assert(std::endian::native == std::endian::little);

} // namespace odrc::host
