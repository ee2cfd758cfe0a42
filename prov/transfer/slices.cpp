// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages that are a little longer than a frame, over a device that delivers: several frames in a
// row, each of which the receiver copies out while the sender copies the next one in. Both takes
// less time than to have them read from another process's memory.
//
// All go within the call that sends the message, or, if something is in the way, it is announced
// after all: the receiver takes the announcement that follows a message's first slices for one of
// that message. If not even that can be, the connection is given up, so that both sides know.

#include "transfer/engine.hpp"

#include <cstring>

namespace odrc::transfer {
namespace {

// To a peer that is far; more is read in less time (verbs::Context::is_far).
constexpr size_t kFarLimit = 16384;

constexpr uint32_t frames_of(size_t length) noexcept {
    return static_cast<uint32_t>((length + wire::kEagerLimit - 1) / wire::kEagerLimit);
}

} // namespace

// ---- the sender --------------------------------------------------------------------------------

bool Engine::goes_in_slices(const Peer& peer, const Send& send) noexcept {
    return send.length > kInjectSize && peer.ready() && peer.lane->delivers() &&
           send.length > wire::kEagerLimit && // of one alone nothing would be gained
           send.length <= crossovers(*peer.lane).sliced && send.pieces.count() == 1 &&
           !send.fenced && !send.more && !(send.header.flags & wire::kConfirm) &&
           !peer.has_little_room && may_post(peer) &&
           peer.window_is_open_to(peer.sent + frames_of(send.length) - 1) && posting_.empty() &&
           (send.length <= kFarLimit || !peer.lane->is_far());
}

// False: they are not all there, and it has to be announced.
bool Engine::deliver_in_slices(Lane& lane, Send& send) noexcept {
    const uint32_t key = *lane.adapter().whole_memory_key();
    const auto* bytes = static_cast<const std::byte*>(send.pieces.first());
    wire::FrameHeader header = send.header;
    header.kind = wire::FrameKind::slices;
    for (size_t done = 0; done < send.length;) {
        std::byte head[wire::kMaxMessageHeader + sizeof(wire::Announcement)];
        header.sequence = lane.peer().sent;
        stamp(lane, header);
        size_t size = wire::write_header(head, header, send.data, 0);
        if (done == 0) {
            const wire::Announcement whole{.length = send.length};
            std::memcpy(head + size, &whole, sizeof whole);
            size += sizeof whole;
        }
        const size_t slice = std::min(send.length - done, wire::kEagerLimit);
        Segments segments;
        segments.add(head, size, key);
        segments.add(bytes + done, slice, key);
        ibv_send_wr wr;
        wr.next = nullptr;
        wr.sg_list = segments.list.data();
        wr.num_sge = static_cast<int>(segments.count);
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = 0;
        if (lane.deliver(wr)) return false;
        lane.set_has_written(false);
        lane.peer().frame_sent(header.sequence);
        send.begun = true;
        done += slice;
        header = {.kind = wire::FrameKind::slice, .flags = 0, .limit = 0, .sequence = 0, .tag = 0};
    }
    count_sent(traffic_.sliced, send.length);
    return true;
}

// ---- the receiver ------------------------------------------------------------------------------

Assembly* Engine::assembly_from(const Lane& lane) noexcept {
    Assembly* assembly = assemblies_.front();
    while (assembly && assembly->message.peer != &lane.peer())
        assembly = assemblies_.after(*assembly);
    return assembly && assembly->message.session == lane.session() ? assembly : nullptr;
}

// The first slice of a message.
void Engine::begin_assembly(Lane& lane, const Message& message) noexcept {
    if (closing_) return; // and nothing is done about the others
    Receive* receive = nullptr;
    Arrived* arrived = nullptr;
    Matcher& matcher = inbox_.matcher(message);
    if (Receive* posted = matcher.find_receive(message))
        receive = inbox_.claim(matcher, *posted, message.length);
    else
        arrived = inbox_.make_room(message, message.length);
    Assembly* assembly = receive || arrived ? assembling_.create() : nullptr;
    if (!assembly) {
        if (receive) complete(*receive, message, 0, FI_ENOMEM);
        if (arrived) inbox_.release(*arrived);
        return lose(message);
    }
    assembly->message = message;
    assembly->message.payload = {};
    assembly->receive = receive;
    assembly->arrived = arrived;
    assemblies_.push_back(*assembly);
    look_after_peers(); // of one that is lost in the middle nothing else may tell
    weigh();
    on_slice(lane, message.payload);
}

void Engine::on_slice(Lane& lane, std::span<const std::byte> bytes) noexcept {
    Assembly* assembly = assembly_from(lane);
    if (!assembly) return; // of a message that was given up
    if (bytes.size() > assembly->message.length - assembly->done) return refuse(lane, bytes);
    if (assembly->receive)
        assembly->receive->pieces.fill_behind(assembly->done, bytes);
    else
        std::memcpy(assembly->arrived->room() + assembly->done, bytes.data(), bytes.size());
    assembly->done += bytes.size();
    if (assembly->done == assembly->message.length) end_assembly(*assembly);
}

void Engine::end_assembly(Assembly& assembly) noexcept {
    const Message message = assembly.message;
    Receive* receive = assembly.receive;
    Arrived* arrived = assembly.arrived;
    destroy(assembly);
    ++counters_.messages_received;
    counters_.bytes_received += message.length;
    if (receive) {
        const size_t bytes = std::min(message.length, receive->pieces.bytes);
        return complete(*receive, message, bytes, bytes < message.length ? FI_ETRUNC : 0);
    }
    ++counters_.unexpected;
    // A receive may have been posted meanwhile.
    Matcher& matcher = inbox_.matcher(message);
    if (Receive* posted = closing_ ? nullptr : matcher.find_receive(message)) {
        receive = inbox_.claim(matcher, *posted, message.length);
        receive ? deliver(*receive, arrived->message) : lose(message);
        inbox_.release(*arrived);
    } else if (!inbox_.show(*arrived)) {
        lose(message);
    }
    weigh();
}

// The message is to be read, and its slices count for nothing. False if there are none.
bool Engine::replace_assembly(Lane& lane, const Message& announced) noexcept {
    Assembly* assembly = assembly_from(lane);
    if (!assembly) return false;
    Receive* receive = assembly->receive;
    give_up(*assembly);
    if (!receive) return false;
    ++counters_.messages_received;
    counters_.bytes_received += announced.length;
    fetch(*receive, announced);
    return true;
}

// The peer has forgotten what it sent.
void Engine::lose_assemblies(const Peer& peer, int error) noexcept {
    for (Assembly* assembly = assemblies_.front(); assembly;) {
        Assembly* next = assemblies_.after(*assembly);
        if (assembly->message.peer == &peer) {
            if (assembly->receive) complete(*assembly->receive, assembly->message, 0, error);
            give_up(*assembly);
        }
        assembly = next;
    }
}

// With what is kept of it.
void Engine::give_up(Assembly& assembly) noexcept {
    if (assembly.arrived) inbox_.release(*assembly.arrived);
    destroy(assembly);
    weigh();
}

void Engine::destroy(Assembly& assembly) noexcept {
    List<Assembly>::erase(assembly);
    assembling_.destroy(&assembly);
}

} // namespace odrc::transfer
