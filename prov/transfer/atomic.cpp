// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The application's atomics. Those that the device cannot carry out by itself (device_atomic.cpp)
// go to the peer in a frame, and the peer carries them out. Each is answered, for its results or
// its error, and is over with the answer.

#include "base/log.hpp"
#include "transfer/engine.hpp"
#include "verbs_rc/remote_key.hpp"

#include <cstring>
#include <rdma/fi_endpoint.h>

namespace odrc::transfer {
namespace {

// Elements in all pieces, or more than any operation may have.
template <class Ioc>
size_t elements_in(std::span<const Ioc> pieces) noexcept {
    size_t count = 0;
    for (const Ioc& v : pieces) {
        if (v.count > wire::kAtomicLimit) return v.count;
        count += v.count;
    }
    return count;
}

std::byte* put(std::byte* to, const void* from, size_t size) noexcept {
    if (size > 0) std::memcpy(to, from, size);
    return to + size;
}

std::byte* put(std::byte* to, std::span<const fi_ioc> pieces, size_t element) noexcept {
    for (const fi_ioc& v : pieces) to = put(to, v.addr, v.count * element);
    return to;
}

} // namespace

ssize_t Engine::begin(const AtomicArguments& a) noexcept {
    const AtomicOperation* operation = find_operation(a.call, a.type, a.op);
    if (!operation) return -FI_EOPNOTSUPP;
    for (const size_t pieces :
         {a.operands.size(), a.compares.size(), a.results.size(), a.remote.size()})
        if (pieces > segments_) return -FI_EINVAL;
    const size_t count = elements_in(a.remote);
    if (count > most_elements(a.call, operation->size)) return -FI_EMSGSIZE;
    if (a.flags & FI_INJECT && count * operation->size > kInjectSize) return -FI_EMSGSIZE;
    if (count == 0 || (operation->has_operands && elements_in(a.operands) != count) ||
        (a.call == AtomicCall::compare && elements_in(a.compares) != count) ||
        (a.call != AtomicCall::update && elements_in(a.results) != count))
        return -FI_EINVAL;
    if (std::ranges::any_of(
            a.remote, [](const fi_rma_ioc& v) { return !verbs::RemoteKey{v.key}.possible(); }))
        return -FI_EKEYREJECTED;
    if (transmitting_ >= settings_.transmit_size ||
        (settings_.transmit && settings_.transmit->full()))
        return -FI_EAGAIN;
    Peer* peer = peers_.find(a.to);
    if (!peer) return -FI_EINVAL;

    const bool now = may_post(*peer) && peer->lane->delivers() && !(a.flags & FI_FENCE);
    const int failure = now ? change_at_once(*peer->lane, a) : FI_EAGAIN;
    if (!failure) return 0;
    Send* send = make_atomic(*peer, a, *operation);
    if (!send) return -FI_EAGAIN;
    if (failure != FI_EAGAIN) {
        complete(*send, failure);
        return 0;
    }
    const int error = submit(*peer, *send);
    if (error) release(*send);
    return -error;
}

// The payload is put together at once, and the caller may have its operands back.
Send* Engine::make_atomic(Peer& peer, const AtomicArguments& a,
                          const AtomicOperation& operation) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return nullptr;
    ++transmitting_;
    const size_t sets = operation.has_operands + (a.call == AtomicCall::compare);
    send->header = {.kind = wire::FrameKind::atomic,
                    .flags = wire::kConfirm,
                    .limit = 0,
                    .sequence = 0,
                    .tag = 0};
    send->kind = FI_ATOMIC | (a.call == AtomicCall::update ? FI_WRITE : FI_READ);
    send->wanted = (a.flags & FI_COMPLETION) != 0;
    send->report_errors = send->wanted || !(a.flags & FI_INJECT);
    send->context = a.context;
    send->fenced = (a.flags & FI_FENCE) != 0;
    send->more = (a.flags & FI_MORE) != 0;
    send->for_device = device_can(a);
    send->length = elements_in(a.remote) * operation.size;
    send->built =
        sizeof(wire::Atomic) + a.remote.size() * sizeof(wire::RemoteSegment) + sets * send->length;
    send->pool = send->built <= kInjectSize ? &injects_ : &frames_;
    send->buffer = send->pool->take();
    if (!send->buffer || !take_places(*send, a.results, operation.size)) {
        release(*send);
        return nullptr;
    }
    const wire::Atomic what{.call = static_cast<uint8_t>(a.call),
                            .type = static_cast<uint8_t>(a.type),
                            .op = static_cast<uint8_t>(a.op),
                            .segments = static_cast<uint8_t>(a.remote.size()),
                            .unused = {}};
    std::byte* to = put(send->buffer->data + wire::kMaxHeader, &what, sizeof what);
    for (const fi_rma_ioc& v : a.remote) {
        const wire::RemoteSegment segment{.address = v.addr,
                                          .length = v.count * operation.size,
                                          .rkey = verbs::RemoteKey{v.key}.rkey(),
                                          .soft_rkey = 0}; // the device's is its name
        to = put(to, &segment, sizeof segment);
    }
    if (operation.has_operands) to = put(to, a.operands, operation.size);
    put(to, a.compares, operation.size);
    return send;
}

// Where the results go. False when memory is out.
bool Engine::take_places(Send& send, std::span<const fi_ioc> results, size_t element) noexcept {
    std::array<iovec, wire::kIovLimit> places;
    for (size_t i = 0; i < results.size(); ++i)
        places[i] = {results[i].addr, results[i].count * element};
    return send.pieces.assign(std::span{places}.first(results.size()), longs_);
}

// What the peer carries out it does in the order in which it is asked; but the device would not
// wait for that. And on soft0, beside the device, the peer has its device do it (SharedWords): a
// word has one path.
int Engine::post_atomic(Lane& lane, Send& send) noexcept {
    Peer& peer = *send.peer;
    const bool repeated = send.out;
    const bool waits = send.awaiting; // for its answer, since it went out first
    const bool by_device = send.for_device && peer.atomics == 0 && !peer.wants_events &&
                           !send.numbered && !lane.station().beside() && !lane.frames_only();
    if (const int error =
            by_device ? post_device_atomic(lane, send) : post_copied(lane, send, send.built))
        return error;
    if (!repeated) ++counters_.atomics;
    if (by_device) return 0;
    if (!waits) ++peer.atomics;
    await_answer(peer, send);
    return 0;
}

// The peer has answered.
void Engine::take_results(Send& send, const wire::Frame& frame) noexcept {
    if (send.failure) return;
    const auto results = frame.payload.subspan(sizeof(wire::Finish));
    if (results.size() != send.pieces.bytes)
        send.failure = FI_EIO;
    else
        send.pieces.fill(results);
}

} // namespace odrc::transfer
