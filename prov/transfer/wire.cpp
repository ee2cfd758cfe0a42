// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/wire.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace odrc::transfer::wire {
namespace {

template <class T>
bool take(std::span<const std::byte>& bytes, T& value) noexcept {
    if (bytes.size() < sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
    return true;
}

// All that is left of the frame.
bool take_keys(std::span<const std::byte>& bytes, Frame& frame) noexcept {
    if (bytes.size() % sizeof(uint32_t) || bytes.size() / sizeof(uint32_t) > kIovLimit)
        return false;
    frame.keys = std::exchange(bytes, {});
    return true;
}

bool is_count(size_t segments) noexcept { return segments > 0 && segments <= kIovLimit; }

bool is_announcement(std::span<const std::byte> segments) noexcept {
    return segments.size() % sizeof(RemoteSegment) == 0 &&
           is_count(segments.size() / sizeof(RemoteSegment));
}

bool is_atomic(std::span<const std::byte> payload) noexcept {
    Atomic atomic;
    if (!take(payload, atomic)) return false;
    return is_count(atomic.segments) && payload.size() >= atomic.segments * sizeof(RemoteSegment);
}

bool is_multicast(std::span<const std::byte> payload) noexcept {
    Multicast what;
    if (!take(payload, what) || payload.size() > kEagerLimit) return false;
    switch (what.word) {
    case MulticastWord::message:
    case MulticastWord::broadcast:
        return payload.size() <= what.length;
    case MulticastWord::credit:
    case MulticastWord::failure:
    case MulticastWord::ask:
    case MulticastWord::give:
        return payload.empty();
    }
    return false;
}

bool is_ring_word(uint64_t word, std::span<const std::byte> payload) noexcept {
    switch (RingWord{word}) {
    case RingWord::offer:
        return payload.size() == sizeof(RingOffer);
    case RingWord::recall:
    case RingWord::leave:
        return payload.empty();
    }
    return false;
}

} // namespace

size_t write_fields(std::byte* out, uint8_t flags, uint64_t data, uint64_t handle,
                    std::span<const uint32_t> keys) noexcept {
    size_t size = 0;
    if (flags & kData) {
        std::memcpy(out + size, &data, sizeof data);
        size += sizeof data;
    }
    if (flags & kConfirm) {
        std::memcpy(out + size, &handle, sizeof handle);
        size += sizeof handle;
    }
    if (flags & kEvent) {
        std::ranges::copy(std::as_bytes(keys), out + size); // there may be none
        size += keys.size_bytes();
    }
    return size;
}

bool read_any_frame(std::span<const std::byte> bytes, Frame& frame) noexcept {
    frame = {};
    if (!take(bytes, frame.header)) return false;
    const uint8_t flags = frame.header.flags & static_cast<uint8_t>(~kCrowded);
    if (flags & ~(kTagged | kData | kConfirm | kEvent | kCollective)) return false;
    const bool carries =
        frame.header.kind == FrameKind::message || frame.header.kind == FrameKind::announce;
    const bool multicast = frame.header.kind == FrameKind::multicast;
    if (flags & kCollective && (flags & kTagged || !(carries || multicast))) return false;
    if (flags & kData && !take(bytes, frame.data)) return false;
    if (flags & kConfirm && !take(bytes, frame.handle)) return false;
    const bool is_note =
        frame.header.kind == FrameKind::wrote || frame.header.kind == FrameKind::read;
    if (flags & kEvent && !(is_note && take_keys(bytes, frame))) return false;
    switch (frame.header.kind) {
    case FrameKind::message:
        break;
    case FrameKind::announce:
        if (!(flags & kConfirm) || !take(bytes, frame.announcement) || !is_announcement(bytes))
            return false;
        break;
    case FrameKind::slices:
        if (flags & (kConfirm | kCollective) || !take(bytes, frame.announcement) || bytes.empty() ||
            bytes.size() >= frame.announcement.length || frame.announcement.length > kSlicedLimit)
            return false;
        break;
    case FrameKind::slice:
        if (flags != 0 || bytes.empty()) return false;
        break;
    case FrameKind::finish:
        if (bytes.size() < sizeof(Finish)) return false;
        break;
    case FrameKind::wrote:
        if (!(flags & (kData | kConfirm | kEvent)) || flags & kTagged || !bytes.empty())
            return false;
        break;
    case FrameKind::read:
        if (flags != kEvent || !bytes.empty()) return false;
        break;
    case FrameKind::placed:
    case FrameKind::nothing:
    case FrameKind::grant:
        if (flags != 0 || !bytes.empty()) return false;
        break;
    case FrameKind::ring:
        if (flags != 0 || !is_ring_word(frame.header.tag, bytes)) return false;
        break;
    case FrameKind::atomic:
        if (flags != kConfirm || !is_atomic(bytes)) return false;
        break;
    case FrameKind::multicast:
        if (flags != kCollective || !is_multicast(bytes)) return false;
        break;
    default:
        return false;
    }
    frame.payload = bytes;
    return true;
}

std::span<const uint32_t> Frame::regions(std::span<uint32_t, kIovLimit> room) const noexcept {
    std::ranges::copy(keys, std::as_writable_bytes(room).begin());
    return room.first(keys.size() / sizeof(uint32_t));
}

uint32_t Frame::finish_error() const noexcept {
    Finish finish;
    std::memcpy(&finish, payload.data(), sizeof finish);
    return finish.error;
}

Atomic Frame::atomic() const noexcept {
    Atomic atomic;
    std::memcpy(&atomic, payload.data(), sizeof atomic);
    return atomic;
}

RemoteSegment Frame::segment(size_t i) const noexcept {
    RemoteSegment segment;
    std::memcpy(&segment, payload.data() + sizeof(Atomic) + i * sizeof segment, sizeof segment);
    return segment;
}

std::span<const std::byte> Frame::elements() const noexcept {
    return payload.subspan(sizeof(Atomic) + atomic().segments * sizeof(RemoteSegment));
}

Multicast Frame::multicast() const noexcept {
    Multicast multicast;
    std::memcpy(&multicast, payload.data(), sizeof multicast);
    return multicast;
}

RingOffer Frame::offer() const noexcept {
    RingOffer offer;
    std::memcpy(&offer, payload.data(), sizeof offer);
    return offer;
}

} // namespace odrc::transfer::wire
