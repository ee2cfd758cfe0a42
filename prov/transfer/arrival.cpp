// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Frames whose turn it is: what becomes of each kind, and of messages and the receives that they
// meet.

#include "base/log.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

namespace odrc::transfer {

// ---- the end of a receive: what each message takes, in line -------------------------------------

[[gnu::always_inline]] inline void Engine::end(Receive& receive, const Message& message,
                                               size_t bytes, int error) noexcept {
    if (receive.kind == 0) [[unlikely]]
        return part_received(receive, message, error);
    const bool released = receive.many || receive.is_last_part();
    const uint64_t flags = receive.kind | (message.has_data() ? FI_REMOTE_CQ_DATA : 0) |
                           (released ? FI_MULTI_RECV : 0);
    count(settings_.tallies.received, error);
    if (error) [[unlikely]]
        complete_badly(receive, message, flags, bytes, error);
    else if (settings_.receive && (receive.wanted || released))
        settings_.receive->push({.context = receive.context,
                                 .flags = flags,
                                 .length = bytes,
                                 .buffer = receive.pieces.first(),
                                 .data = message.data,
                                 .tag = message.tag,
                                 .source = source_of(message.peer)});
    if (receive.whole) part_done(*receive.whole);
    inbox_.destroy(receive);
}

// The message is the receive's.
[[gnu::always_inline]] inline void Engine::take_in(Receive& receive,
                                                   const Message& message) noexcept {
    if (message.announced) return fetch(receive, message);
    const size_t bytes = receive.pieces.fill(message.payload);
    if (message.confirm()) send_finish(message, 0);
    end(receive, message, bytes, bytes < message.length ? FI_ETRUNC : 0);
}

// The same, for who is not in this file.
void Engine::complete(Receive& receive, const Message& message, size_t bytes, int error) noexcept {
    end(receive, message, bytes, error);
}
void Engine::deliver(Receive& receive, const Message& message) noexcept {
    take_in(receive, message);
}

// ---- messages and receives that meet ------------------------------------------------------------

// Without memory to keep a message, the connection is given up, so that both sides know.
void Engine::lose(const Message& message) noexcept {
    ODRC_WARN(FI_LOG_EP_DATA, "{}: no memory for a message of {} bytes from {}",
              adapter_.port().name(), message.payload.size(), message.peer->address.text());
    wireup_.drop(*message.peer, FI_ENOMEM);
}

void Engine::discard(Arrived& arrived) noexcept {
    if (arrived.message.wants_finish()) send_finish(arrived.message, 0);
    inbox_.release(arrived);
    weigh();
}

[[gnu::always_inline]] inline void Engine::on_message(const Message& message) noexcept {
    if (closing_) return;
    ++counters_.messages_received;
    counters_.bytes_received += message.length;
    if (message.collective()) [[unlikely]]
        return on_part(message);
    Matcher& matcher = inbox_.matcher(message);
    if (Receive* posted = matcher.find_receive(message)) [[likely]] {
        Receive* receive = inbox_.claim(matcher, *posted, message.length);
        return receive ? take_in(*receive, message) : lose(message);
    }
    ++counters_.unexpected;
    if (!inbox_.keep(message)) return lose(message);
    weigh();
}

// ---- frames -------------------------------------------------------------------------------------

[[gnu::always_inline]] inline Message Engine::message_in(Lane& lane,
                                                         const wire::Frame& frame) noexcept {
    const uint8_t flags = frame.header.flags;
    const bool has_tag = flags & (wire::kTagged | wire::kCollective);
    return {.peer = &lane.peer(),
            .session = lane.session(),
            .flags = flags,
            .announced = frame.header.kind == wire::FrameKind::announce,
            .tag = has_tag ? frame.header.tag : 0,
            .data = frame.data,
            .handle = frame.handle,
            .length = frame.message_length(),
            .payload = frame.payload};
}

// One that has no message in it. False if it announces one, which is new.
bool Engine::on_other(Lane& lane, const wire::Frame& frame) noexcept {
    switch (frame.header.kind) {
    case wire::FrameKind::announce:
        return replace_assembly(lane, message_in(lane, frame));
    case wire::FrameKind::slices:
        begin_assembly(lane, message_in(lane, frame));
        break;
    case wire::FrameKind::slice:
        on_slice(lane, frame.payload);
        break;
    case wire::FrameKind::finish:
        on_finish(lane.peer(), frame);
        break;
    case wire::FrameKind::atomic:
        on_atomic(lane, frame);
        break;
    case wire::FrameKind::wrote:
    case wire::FrameKind::read:
        on_note(lane, frame);
        break;
    case wire::FrameKind::placed:
        on_placed(lane.peer(), frame.header.tag);
        break;
    case wire::FrameKind::multicast:
        if (!closing_ && multicast_) multicast_->on_frame(lane.peer(), frame);
        break;
    default:
        break; // there is nothing in it
    }
    return true;
}

void Engine::on_frame(Lane& lane, const wire::Frame& frame) noexcept {
    if (frame.header.kind == wire::FrameKind::message || !on_other(lane, frame)) [[likely]]
        on_message(message_in(lane, frame));
}

} // namespace odrc::transfer
