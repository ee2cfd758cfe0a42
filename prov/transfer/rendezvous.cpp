// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Long messages: announced by their sender, read by their receiver, finished by an answer.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <algorithm>
#include <cstring>

namespace odrc::transfer {
namespace {

// One read moves at most so much, so that no work request holds up its queue pair for long.
constexpr size_t kMostPerRead = size_t{8} << 20;

} // namespace

// ---- the sender
// -----------------------------------------------------------------------------------

// The peer may read the message's memory until it says that it has finished.
int Engine::expose(Send& send) noexcept {
    if (send.exposed) return 0;
    send.exposed = exposures_.create();
    if (!send.exposed) return FI_ENOMEM;
    for (uint32_t i = 0; i < send.pieces.count; ++i) {
        const iovec& v = send.pieces.iov[i];
        verbs::Registration& registration = (*send.exposed)[i];
        if (const int error = adapter_.register_memory(v.iov_base, v.iov_len,
                                                       IBV_ACCESS_REMOTE_READ, registration))
            return error;
        counters_.memory_taken(registration.bytes());
    }
    return 0;
}

int Engine::announce(Lane& lane, Send& send) noexcept {
    if (const int error = expose(send)) return error;
    std::byte payload[sizeof(wire::Announcement) + sizeof(wire::RemoteSegment) * wire::kIovLimit];
    const wire::Announcement announcement{.length = send.length};
    std::memcpy(payload, &announcement, sizeof announcement);
    size_t size = sizeof announcement;
    for (uint32_t i = 0; i < send.pieces.count; ++i) {
        const iovec& v = send.pieces.iov[i];
        const wire::RemoteSegment segment{.address = reinterpret_cast<uint64_t>(v.iov_base),
                                          .length = v.iov_len,
                                          .rkey = (*send.exposed)[i].rkey(),
                                          .unused = 0};
        std::memcpy(payload + size, &segment, sizeof segment);
        size += sizeof segment;
    }
    send.header.kind = wire::FrameKind::announce;
    send.header.flags |= wire::kConfirm;
    send.header.segments = static_cast<uint16_t>(send.pieces.count);
    if (const int error = post_built(lane, send, {payload, size})) return error;
    await_answer(send);
    count_sent(send.length);
    return 0;
}

void Engine::on_finish(Peer& peer, uint64_t handle, uint32_t error) noexcept {
    Send* send = sends_.find(handle);
    if (!send || send->peer != &peer || !send->awaiting) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: {} finished a message that was not sent to it",
                  adapter_.port().name(), peer.address.text());
        return;
    }
    answered(*send);
    send->failure = static_cast<int>(error);
    if (!send->posted) complete(*send, send->failure);
}

// ---- the receiver
// ---------------------------------------------------------------------------------

void Engine::fetch(Receive& receive, const Message& message) noexcept {
    Fetch* fetch = fetches_.create(*message.peer);
    if (!fetch) {
        send_finish(message, FI_ENOMEM);
        return complete(receive, message, 0, FI_ENOMEM);
    }
    fetch->receive = &receive;
    fetch->message = message;
    fetch->message.payload = {}; // goes with the frame
    fetch->wanted = std::min(message.length, receive.pieces.bytes);
    for (auto rest = message.payload; !rest.empty();
         rest = rest.subspan(sizeof(wire::RemoteSegment)))
        std::memcpy(&fetch->segments[fetch->segment_count++], rest.data(),
                    sizeof(wire::RemoteSegment));
    size_t offered = 0;
    for (uint32_t i = 0; i < fetch->segment_count; ++i) offered += fetch->segments[i].length;
    if (offered < fetch->wanted) return end(*fetch, FI_EIO);
    if (const int error = register_target(*fetch)) return end(*fetch, error);
    if (fetch->wanted == 0) return end(*fetch, 0);

    if (!message.connected()) return end(*fetch, FI_ECONNRESET);
    Peer& peer = *message.peer;
    int error = FI_EAGAIN;
    if (may_post(peer)) error = post_reads(*peer.lane, *fetch);
    if (error == FI_EAGAIN) {
        peer.jobs.push_back(*fetch);
        return block(peer);
    }
    if (error) end(*fetch, error);
}

int Engine::register_target(Fetch& fetch) noexcept {
    size_t left = fetch.wanted;
    const Pieces& pieces = fetch.receive->pieces;
    for (uint32_t i = 0; i < pieces.count && left > 0; ++i) {
        const size_t n = std::min(left, pieces.iov[i].iov_len);
        if (const int error = adapter_.register_memory(pieces.iov[i].iov_base, n,
                                                       IBV_ACCESS_LOCAL_WRITE, fetch.local[i]))
            return error;
        counters_.memory_taken(fetch.local[i].bytes());
        left -= n;
    }
    return 0;
}

// Posts reads until all is asked for or the lane is full. A read takes from one of the sender's
// segments and fills as many of the receiver's pieces as it reaches.
int Engine::post_reads(Lane& lane, Fetch& fetch) noexcept {
    while (fetch.requested < fetch.wanted) {
        if (!lane.has_room()) return FI_EAGAIN;
        const wire::RemoteSegment& from = fetch.segments[fetch.segment];
        if (fetch.segment_done == from.length) {
            ++fetch.segment;
            fetch.segment_done = 0;
            continue;
        }
        const size_t most = std::min(
            {from.length - fetch.segment_done, fetch.wanted - fetch.requested, kMostPerRead});
        Segments segments;
        const size_t bytes = fetch.target(most, segments_, segments);
        const bool last = fetch.requested + bytes == fetch.wanted;
        ibv_send_wr wr{};
        wr.sg_list = segments.list.data();
        wr.num_sge = static_cast<int>(segments.count);
        wr.opcode = IBV_WR_RDMA_READ;
        wr.send_flags = last ? IBV_SEND_SIGNALED : 0;
        wr.wr.rdma.remote_addr = from.address + fetch.segment_done;
        wr.wr.rdma.rkey = from.rkey;
        const int error = last ? lane.post(wr, verbs::WorkKind::read, &fetch)
                               : lane.post(wr, verbs::WorkKind::lane, &lane);
        if (error) return error;
        fetch.requested += bytes;
        fetch.segment_done += bytes;
    }
    return 0;
}

size_t Fetch::target(size_t most, uint32_t max_segments, Segments& out) const noexcept {
    size_t skip = requested;
    size_t bytes = 0;
    for (uint32_t i = 0; i < receive->pieces.count && bytes < most && out.count < max_segments;
         ++i) {
        const iovec& v = receive->pieces.iov[i];
        if (skip >= v.iov_len) {
            skip -= v.iov_len;
            continue;
        }
        const size_t n = std::min(v.iov_len - skip, most - bytes);
        out.add(static_cast<std::byte*>(v.iov_base) + skip, n, local[i].lkey());
        bytes += n;
        skip = 0;
    }
    return bytes;
}

void Engine::on_fetched(Fetch& fetch, ibv_wc_status status) noexcept {
    end(fetch, status == IBV_WC_SUCCESS ? 0 : FI_ECONNRESET);
}

void Engine::end(Fetch& fetch, int error) noexcept {
    for (const auto& r : fetch.local) counters_.memory_given_back(r.bytes());
    fetch.local = {}; // before anyone hears that the memory is his again
    send_finish(fetch.message, error);
    const bool cut = fetch.wanted < fetch.message.length;
    complete(*fetch.receive, fetch.message, error ? 0 : fetch.wanted,
             error ? error
             : cut ? FI_ETRUNC
                   : 0);
    fetches_.destroy(&fetch);
}

// Tells the sender that its message was received, or why it could not be.
void Engine::send_finish(const Message& message, int error) noexcept {
    if (!message.connected()) return; // the sender has learned the end from its lane
    Send* send = sends_.create(*message.peer);
    if (!send) return lose(message);
    send->header.kind = wire::FrameKind::finish;
    send->header.tag = message.handle;
    send->error = static_cast<uint32_t>(error);
    if (submit(*send)) release(*send);
}

} // namespace odrc::transfer
