// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Long messages: announced by their sender, read by their receiver, finished by an answer.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <algorithm>
#include <cstring>

namespace odrc::transfer {

// ---- the sender --------------------------------------------------------------------------------

int Engine::announce(Lane& lane, Send& send) noexcept {
    if (const int error = expose(lane, send)) return error;
    std::byte payload[sizeof(wire::Announcement) + sizeof(wire::RemoteSegment) * wire::kIovLimit];
    const wire::Announcement announcement{.length = send.length};
    std::memcpy(payload, &announcement, sizeof announcement);
    size_t size = sizeof announcement;
    for (size_t i = 0; i < send.pieces.count(); ++i) {
        const iovec& v = send.pieces.iov[i];
        const uint32_t key = (*send.registered)[i].rkey();
        const bool soft = lane.station().beside();
        const wire::RemoteSegment segment{.address = reinterpret_cast<uint64_t>(v.iov_base),
                                          .length = v.iov_len,
                                          .rkey = soft ? 0 : key,
                                          .soft_rkey = soft ? key : 0};
        std::memcpy(payload + size, &segment, sizeof segment);
        size += sizeof segment;
    }
    send.header.kind = wire::FrameKind::announce;
    send.header.flags |= wire::kConfirm;
    const bool repeated = send.numbered;
    if (const int error = post_built(lane, send, {payload, size})) {
        withdraw_unsent(send);
        return error;
    }
    await_answer(*send.peer, send);
    if (!repeated) count_sent(traffic_.announced, send.length);
    return 0;
}

void Engine::on_finish(Peer& peer, const wire::Frame& frame) noexcept {
    Send* send = sends_.find(frame.header.tag);
    if (!send || send->peer != &peer || !send->awaiting) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: {} finished what was not sent to it", adapter_.port().name(),
                  peer.address.text());
        return;
    }
    answered(*send);
    send->failure = static_cast<int>(frame.finish_error());
    if (send->header.kind == wire::FrameKind::atomic) take_results(*send, frame);
    if (!send->posted) complete(*send, send->failure);
}

// ---- the receiver ------------------------------------------------------------------------------

void Engine::fetch(Receive& receive, const Message& message) noexcept {
    Fetch* fetch = fetches_.create(*message.peer);
    if (!fetch) {
        send_finish(message, FI_ENOMEM);
        return complete(receive, message, 0, FI_ENOMEM);
    }
    fetch->receive = &receive;
    fetch->message = message;
    fetch->message.payload = {}; // goes with the frame
    RemoteCopy& copy = fetch->copy;
    copy.local = receive.pieces.list();
    copy.bytes = std::min(message.length, receive.pieces.bytes);
    const size_t segments = message.payload.size() / sizeof(wire::RemoteSegment);
    if (!copy.keys.make(copy.local.size(), longs_.registrations) ||
        !copy.remote.make(segments, longs_.segments))
        return end(*fetch, FI_ENOMEM);
    size_t count = 0, offered = 0;
    for (auto rest = message.payload; !rest.empty();
         rest = rest.subspan(sizeof(wire::RemoteSegment))) {
        wire::RemoteSegment& segment = copy.remote[count++];
        std::memcpy(&segment, rest.data(), sizeof segment);
        offered += segment.length;
    }
    if (offered < copy.bytes) return end(*fetch, FI_EIO);
    if (const int error =
            register_list(adapter_to(*message.peer), copy.local, copy.bytes, IBV_ACCESS_LOCAL_WRITE,
                          receive.handed_over, copy.keys.list()))
        return end(*fetch, error);
    if (copy.bytes == 0) return end(*fetch, 0);

    if (!message.in_session()) return end(*fetch, FI_ECONNRESET);
    if (const int error = submit(*message.peer, *fetch)) fail(*fetch, error);
}

// Posts reads until all is asked for or the lane is full: all in one call, if they go at once. All
// are signaled, so that we know when none is left to touch the memory, whatever becomes of the
// lane.
int Engine::post(Lane& lane, Fetch& fetch) noexcept {
    if (std::exchange(fetch.lost, false)) fetch.copy.rewind();
    while (fetch.copy.left() > 0) {
        if (!lane.has_room()) return FI_EAGAIN;
        ibv_send_wr wr{};
        Segments segments;
        const size_t bytes =
            fetch.copy.next(lane.station().beside(), most_at_once_, read_segments_, wr, segments);
        const bool last = bytes == fetch.copy.left();
        wr.opcode = IBV_WR_RDMA_READ;
        wr.send_flags = IBV_SEND_SIGNALED;
        if (const int error = lane.post(wr, verbs::WorkKind::read, &fetch, !last)) return error;
        fetch.copy.advance(bytes);
        ++fetch.under_way;
    }
    return 0;
}

void Engine::on_fetched(Fetch& fetch, Ending ending) noexcept {
    --fetch.under_way;
    const bool all_out = fetch.copy.left() == 0;
    if (ending.lost()) {
        fetch.lost = true;
        if (all_out) save(*fetch.peer, fetch);
    } else if (!ending.good()) {
        fetch.failure = FI_ECONNRESET;
    }
    if (fetch.under_way > 0) return;
    if (fetch.failure) {
        if (fetch.linked()) List<Job>::erase(fetch);
        return end(fetch, fetch.failure);
    }
    if (all_out && !fetch.lost) end(fetch, 0);
}

void Engine::end(Fetch& fetch, int error) noexcept {
    give_back(fetch.copy.keys.list()); // before anyone hears that the memory is his again
    send_finish(fetch.message, error);
    const size_t bytes = fetch.copy.bytes;
    const bool cut = bytes < fetch.message.length;
    complete(*fetch.receive, fetch.message, error ? 0 : bytes, error ? error : cut ? FI_ETRUNC : 0);
    fetches_.destroy(&fetch);
}

// Tells the sender that its message was received, or why it could not be.
void Engine::send_finish(const Message& message, int error) noexcept {
    if (!message.in_session()) return; // the sender has learned the end from its lane
    if (!answer(*message.peer, wire::FrameKind::finish, message.handle, error)) lose(message);
}

} // namespace odrc::transfer
