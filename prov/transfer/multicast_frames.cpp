// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Packets of groups as frames: held while somebody needs them, and sent. None of this allocates,
// but for pools that have to grow.

#include "base/copy_few.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"
#include "transfer/part_sink.hpp"

#include <cstring>

namespace odrc::transfer {
namespace {

constexpr size_t kHeader = sizeof(wire::FrameHeader) + sizeof(wire::Multicast);
static_assert(kHeader <= wire::kMaxHeader);

// A short packet in one piece, with room for the end of a record (srq/ring.hpp).
struct ShortPacket {
    alignas(8) std::byte bytes[srq::record_size(kHeader + kShort)];
};
static_assert(sizeof(ShortPacket) <= srq::kMostInRecord);

// Gives how long it is.
size_t write_packet_header(std::byte* to, const Send& send) noexcept {
    std::memcpy(to, &send.header, sizeof send.header);
    std::memcpy(to + sizeof send.header, &send.parcel->what, sizeof send.parcel->what);
    return kHeader;
}

} // namespace

// ---- what is held -------------------------------------------------------------------------------

// Of a packet that has just come. If it is long, the receive buffer stays with it; what is short,
// or has come in a ring, or in a receive that has to go back to its lane, is copied. Null when
// memory is out.
Parcel* Engine::hold(const wire::Multicast& what, std::span<const std::byte> payload) noexcept {
    const bool in_hand = in_hand_ && payload.data() >= in_hand_->data &&
                         payload.data() < in_hand_->data + wire::kFrameBytes;
    if (!in_hand || payload.size() <= kInjectSize) return copy(what, payload);
    Parcel* parcel = parcels_.create();
    if (!parcel) return nullptr;
    parcel->what = what;
    parcel->payload = payload.data();
    parcel->length = static_cast<uint32_t>(payload.size());
    parcel->buffer = std::exchange(in_hand_, nullptr);
    parcel->station = in_hand_at_;
    return parcel;
}

// Of the program's memory, which stays there until nobody uses the packet any more.
Parcel* Engine::lend(const wire::Multicast& what, std::span<const std::byte> payload) noexcept {
    if (!adapter_.whole_memory_key()) return copy(what, payload);
    Parcel* parcel = parcels_.create();
    if (!parcel) return nullptr;
    parcel->what = what;
    parcel->payload = payload.data();
    parcel->length = static_cast<uint32_t>(payload.size());
    return parcel;
}

Parcel* Engine::copy(const wire::Multicast& what, std::span<const std::byte> payload) noexcept {
    srq::BufferPool& pool = payload.size() <= kInjectSize ? injects_ : packets_;
    srq::Buffer* buffer = pool.take();
    if (!buffer) return nullptr;
    Parcel* parcel = parcels_.create();
    if (!parcel) {
        pool.give_back(buffer);
        return nullptr;
    }
    copy_few(buffer->data, payload.data(), payload.size());
    parcel->what = what;
    parcel->payload = buffer->data;
    parcel->length = static_cast<uint32_t>(payload.size());
    parcel->buffer = buffer;
    parcel->pool = &pool;
    return parcel;
}

void Engine::release(Parcel& parcel) noexcept {
    if (--parcel.users > 0) return;
    if (parcel.station)
        parcel.station->take_back(parcel.buffer);
    else if (parcel.buffer)
        parcel.pool->give_back(parcel.buffer);
    parcels_.destroy(&parcel);
}

void Engine::keep_early(size_t bytes) noexcept {
    early_bytes_ += bytes;
    weigh();
}

void Engine::forget_early(size_t bytes) noexcept {
    early_bytes_ -= bytes;
    weigh();
}

void Engine::await(int more) noexcept {
    awaited_ += static_cast<size_t>(more);
    if (more > 0) let_come_what_is_wanted();
}

// ---- out ----------------------------------------------------------------------------------------

int Engine::send(Parcel& parcel, fi_addr_t to, uint32_t group) noexcept {
    Peer* peer = peers_.find(to);
    Send* send = peer ? make_packet(*peer, parcel, group) : nullptr;
    if (!send) return FI_ENOMEM;
    ++transmitting_;
    const int error = submit(*peer, *send);
    if (error) {
        --parcel.users;
        release(*send);
    }
    return error;
}

Send* Engine::make_packet(Peer& peer, Parcel& parcel, uint32_t group) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return nullptr;
    send->header.kind = wire::FrameKind::multicast;
    send->header.flags = wire::kCollective;
    send->header.tag = group;
    send->parcel = &parcel;
    ++parcel.users;
    return send;
}

// Words go before all else and beside the window: a peer's packets may wait for them. Each answers
// some that were within theirs, or is the last that the group hears. Nobody hears of their end, but
// what went down with a connection is sent again, once.
void Engine::send_word(Peer& peer, uint32_t group, const wire::Multicast& word) noexcept {
    say(peer, group, word, true);
}

void Engine::send_word(fi_addr_t to, uint32_t group, const wire::Multicast& word) noexcept {
    if (Peer* peer = peers_.find(to)) say(*peer, group, word, true);
}

void Engine::say(Peer& peer, uint32_t group, const wire::Multicast& word, bool again) noexcept {
    Parcel* parcel = parcels_.create();
    if (!parcel) return wireup_.drop(peer, FI_ENOMEM);
    parcel->what = word;
    Send* send = make_packet(peer, *parcel, group);
    if (send) {
        send->urgent = true;
        send->again = again;
        if (submit(peer, *send) != 0) {
            --parcel->users;
            release(*send);
            send = nullptr;
        }
    }
    release(*parcel);
    if (!send) wireup_.drop(peer, FI_ENOMEM);
}

// A packet in its frame: inline, or gathered from its header and from where it lies.
int Engine::post_packet(Lane& lane, Send& send) noexcept {
    const Parcel& parcel = *send.parcel;
    if (kHeader + parcel.length <= lane.max_inline() && parcel.length <= kShort) {
        number(lane, send);
        ShortPacket frame;
        const size_t header_size = write_packet_header(frame.bytes, send);
        if (parcel.length > 0)
            std::memcpy(frame.bytes + header_size, parcel.payload, parcel.length);
        return post_short(lane, frame.bytes, header_size + parcel.length, send);
    }
    // A device other than the one that it came from may not know the memory that it lies in.
    const bool foreign =
        parcel.station && parcel.station != &lane.station() && !lane.adapter().whole_memory_key();
    if (!send.buffer) {
        send.pool = foreign ? &packets_ : &injects_;
        send.buffer = send.pool->take();
        if (!send.buffer) return FI_EAGAIN;
    }
    number(lane, send);
    const size_t header_size = write_packet_header(send.buffer->data, send);
    Segments segments;
    if (foreign) {
        copy_few(send.buffer->data + header_size, parcel.payload, parcel.length);
        segments.add(send.buffer->data, header_size + parcel.length, lane.key_of(*send.buffer));
    } else {
        segments.add(send.buffer->data, header_size, lane.key_of(*send.buffer));
        const uint32_t key = parcel.buffer ? lane.key_of(*parcel.buffer)
                                           : lane.adapter().whole_memory_key().value_or(0);
        segments.add(parcel.payload, parcel.length, key);
    }
    return post_frame(lane, segments, 0, send);
}

void Engine::packet_sent(Send& send, int error) noexcept {
    Parcel& parcel = *send.parcel;
    if (!send.urgent) {
        release(send);
        return multicast_->sent(parcel, error);
    }
    const bool order = parcel.what.word == wire::MulticastWord::ask ||
                       parcel.what.word == wire::MulticastWord::give;
    if (error && order)
        multicast_->lose_word(parcel, error); // it may have been heard, and have been counted
    else if (send.again && is_lost(error) && !closing_)
        say(*send.peer, static_cast<uint32_t>(send.header.tag), parcel.what, false);
    release(send);
    release(parcel);
}

} // namespace odrc::transfer
