// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What goes over a lane. A frame is one send: a header, then fields that its flags name, in the
// order of the flags, then the payload. Little-endian, as the wireup datagrams; a version is not
// carried, for only endpoints of one wireup version connect.

#include "srq/ring.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace odrc::transfer::wire {

static_assert(std::endian::native == std::endian::little);

enum class FrameKind : uint8_t {
    message = 1,  // the payload is the message
    announce = 2, // the payload says where the message is, for the receiver to read
    finish = 3,   // the receiver is done with the message or atomic of that handle
    wrote = 4,    // all writes that went before are in place: their remote CQ data, if any
    placed = 5,   // the answer to that, for the handle it came with
    read = 6,     // all reads that went before are done
    atomic = 7,   // the payload says what to do with the receiver's memory, and with which operands
    nothing = 8,  // in the place of a frame that its sender could not send
    multicast = 9, // of a group: what it is the payload says, and what goes to all lies behind that
    slices = 10,   // the payload says how long the message is, and has the first of it
    slice = 11,    // and this some more, until it is whole or announced after all (slices.cpp)
    // Not counted among the frames:
    grant = 12, // says its header's limit alone, and in the tag how much of the ring is free again
    ring = 13,  // of a ring (RingWord)
};

// What the tag of a ring frame says.
enum class RingWord : uint64_t {
    offer = 1,  // the receiver of the frame may write into the ring that the payload tells
    recall = 2, // and is to leave it
    leave = 3,  // and has: nothing more comes there
};

enum FrameFlags : uint8_t {
    kTagged = 1 << 0,     // the header's tag counts
    kData = 1 << 1,       // 8 bytes: remote CQ data
    kConfirm = 1 << 2,    // 8 bytes: a handle; the sender awaits a finish or placed frame for it
    kEvent = 1 << 3,      // the read or write counts, for the regions of keys of 4 bytes behind it
    kCollective = 1 << 4, // the header's tag is of a group; kData: the error that it failed with
    kCrowded = 1 << 5,    // of any frame: its sender has little room for messages
};

struct FrameHeader {
    FrameKind kind;
    uint8_t flags;
    uint16_t limit;    // of the sender's receive window (srq/window.hpp), its lower bits
    uint32_t sequence; // counts the frames of a session
    uint64_t tag;      // finish, placed: the handle; multicast: what the receiver calls the group
};
static_assert(sizeof(FrameHeader) == 16);

// Payload of an announce frame, followed by its segments, and of a slices frame, followed by bytes.
struct Announcement {
    uint64_t length;
};

struct RemoteSegment {
    uint64_t address;
    uint64_t length;
    uint32_t rkey;      // on the domain's device
    uint32_t soft_rkey; // on soft0 beside it
};
static_assert(sizeof(RemoteSegment) == 24);

// Payload of a finish frame. Behind it comes what an atomic is to give back.
struct Finish {
    uint32_t error; // a fi_errno value; 0: the message was received
    uint32_t unused;
};

// What a multicast frame is.
enum class MulticastWord : uint8_t {
    message = 1,   // a packet of a message for which nobody has posted a receive
    broadcast = 2, // a packet of a fi_broadcast(3)
    credit = 3,    // from a child: how far the root may send
    failure = 4,   // the group is of no use any more
    ask = 5,       // for the number of an ordered message
    give = 6,      // the answer
};

// The beginning of its payload.
struct Multicast {
    MulticastWord word{};
    uint8_t tree{0}; // Tree
    uint16_t unused{0};
    uint32_t sender{0};    // what the sender of the frame calls the group
    uint32_t root{0};      // of the tree, by its rank
    uint32_t operation{0}; // broadcast: its number
    // message: its place in the order; credit: the limit; failure: a fi_errno value; give: a place
    uint64_t number{0};
    uint64_t length{0}; // of the whole message
};
static_assert(sizeof(Multicast) == 32);

// Payload of a ring frame that offers one.
using srq::RingOffer;

// How many pieces the memory of one operation may be in, if the device gathers as many.
inline constexpr size_t kIovLimit = 32;

// Payload of an atomic frame, followed by the segments that it changes, its operands, if the
// operation has some, and what it compares, if it does.
struct Atomic {
    uint8_t call; // AtomicCall
    uint8_t type; // fi_datatype
    uint8_t op;   // fi_op
    uint8_t segments;
    uint8_t unused[4];
};
static_assert(sizeof(Atomic) == 8);

// The longest header of a message, and of any frame.
inline constexpr size_t kMaxMessageHeader = sizeof(FrameHeader) + 2 * sizeof(uint64_t);
inline constexpr size_t kMaxHeader = kMaxMessageHeader + kIovLimit * sizeof(uint32_t);

// The largest message that may travel in its frame: up to here no device that was measured reads
// faster (bench/figures/logp.md). Where one does, its sender announces shorter ones
// (crossovers.hpp).
inline constexpr size_t kEagerLimit = 8192;
// The largest that may go in several: a longer one gains less by that, and takes the more memory of
// a receiver that is not ready for it.
inline constexpr size_t kSlicedLimit = 65536;
// A buffer for any frame, in whole cache lines.
inline constexpr size_t kFrameBytes = (kMaxHeader + kEagerLimit + 63) / 64 * 64;

// The longest frame whose payload is made up by us.
inline constexpr size_t kMaxBuilt =
    kMaxHeader + sizeof(Announcement) + kIovLimit * sizeof(RemoteSegment);
static_assert(kMaxBuilt <= kFrameBytes);

// The most bytes of operands, or of operands and compared values, that an atomic frame has room for
// whatever its segments.
inline constexpr size_t kAtomicLimit =
    kEagerLimit - sizeof(Atomic) - kIovLimit * sizeof(RemoteSegment);
static_assert(sizeof(Finish) + kAtomicLimit <= kEagerLimit);

// How many bytes the header and the fields that its flags name take, and their writing.
inline size_t header_size(const FrameHeader& header, size_t keys = 0) noexcept {
    return sizeof header + (header.flags & kData ? sizeof(uint64_t) : 0) +
           (header.flags & kConfirm ? sizeof(uint64_t) : 0) +
           (header.flags & kEvent ? keys * sizeof(uint32_t) : 0);
}

// By words, which are made up in registers: by its fields it would have to lie in memory first.
inline void write_plain(std::byte* out, const FrameHeader& header) noexcept {
    const uint64_t words[] = {uint64_t{static_cast<uint8_t>(header.kind)} |
                                  uint64_t{header.flags} << 8 | uint64_t{header.limit} << 16 |
                                  uint64_t{header.sequence} << 32,
                              header.tag};
    std::memcpy(out, &words[0], sizeof words[0]);
    std::memcpy(out + sizeof words[0], &words[1], sizeof words[1]);
}

size_t write_fields(std::byte* out, uint8_t flags, uint64_t data, uint64_t handle,
                    std::span<const uint32_t> keys) noexcept;
inline size_t write_header(std::byte* out, const FrameHeader& header, uint64_t data,
                           uint64_t handle, std::span<const uint32_t> keys = {}) noexcept {
    write_plain(out, header);
    if (!(header.flags & (kData | kConfirm | kEvent))) [[likely]]
        return sizeof header;
    return sizeof header + write_fields(out + sizeof header, header.flags, data, handle, keys);
}

// A frame that has come in, taken apart.
struct Frame {
    FrameHeader header;
    uint64_t data;
    uint64_t handle;
    std::span<const std::byte> keys; // kEvent: of the regions
    Announcement announcement;
    std::span<const std::byte> payload; // announce: the segments; atomic: with what is behind them

    size_t message_length() const noexcept {
        const bool said = header.kind == FrameKind::announce || header.kind == FrameKind::slices;
        return said ? announcement.length : payload.size();
    }
    std::span<const uint32_t> regions(std::span<uint32_t, kIovLimit> room) const noexcept;
    uint32_t finish_error() const noexcept;
    // Of an atomic: what it does, one of the segments, and what is behind them.
    Atomic atomic() const noexcept;
    RemoteSegment segment(size_t i) const noexcept;
    std::span<const std::byte> elements() const noexcept;
    RingOffer offer() const noexcept;
    // Of a multicast frame: what it is, and what is behind that.
    Multicast multicast() const noexcept;
    std::span<const std::byte> packet() const noexcept {
        return payload.subspan(sizeof(Multicast));
    }
    bool is_counted() const noexcept { return header.kind < FrameKind::grant; }
};

// Takes a frame apart, of which nothing is initialized before. False unless it is whole.
bool read_any_frame(std::span<const std::byte> bytes, Frame& frame) noexcept;
inline bool read_frame(std::span<const std::byte> bytes, Frame& frame) noexcept {
    if (bytes.size() < sizeof(FrameHeader)) return false;
    std::memcpy(&frame.header, bytes.data(), sizeof frame.header);
    if (frame.header.kind != FrameKind::message || frame.header.flags & ~(kTagged | kCrowded))
        return read_any_frame(bytes, frame);
    frame.data = frame.handle = 0;
    frame.payload = bytes.subspan(sizeof frame.header); // most are nothing but a message
    return true;
}

// The header of a message that has it behind the payload, in a ring (srq/ring.hpp), before that
// place; and remote CQ data before it.
static_assert(sizeof(FrameHeader) == srq::kHeader);
inline void write_header_behind(std::byte* end, const FrameHeader& header, uint64_t data) noexcept {
    write_plain(end - sizeof header, header);
    if (header.flags & kData) std::memcpy(end - sizeof header - sizeof data, &data, sizeof data);
}

// Takes one apart, with the data in its length. False unless it is one.
inline bool read_message(const std::byte* header, std::span<const std::byte> payload,
                         Frame& frame) noexcept {
    std::memcpy(&frame.header, header, sizeof frame.header);
    frame.data = frame.handle = 0;
    frame.payload = payload;
    if (frame.header.flags & kData) {
        if (payload.size() < sizeof frame.data) return false;
        std::memcpy(&frame.data, header - sizeof frame.data, sizeof frame.data);
        frame.payload = payload.first(payload.size() - sizeof frame.data);
    }
    return frame.header.kind == FrameKind::message &&
           !(frame.header.flags & ~(kTagged | kData | kCrowded));
}

} // namespace odrc::transfer::wire
