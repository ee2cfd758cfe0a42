// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Atomics that the device carries out by itself, on a word of the peer's, while the peer sleeps.

#include "transfer/engine.hpp"
#include "transfer/status.hpp"
#include "verbs_rc/remote_key.hpp"

#include <cstring>

namespace odrc::transfer {
namespace {

uint64_t word_at(const std::byte* from) noexcept {
    uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// The one element of all pieces.
std::byte* element_of(std::span<const fi_ioc> pieces) noexcept {
    for (const fi_ioc& v : pieces)
        if (v.count > 0) return static_cast<std::byte*>(v.addr);
    return nullptr;
}

// A change of one word of the peer's.
struct WordChange {
    bool compares; // and swaps; otherwise it adds
    uint64_t address;
    uint32_t rkey;
    const std::byte* operand;
    const std::byte* compared;
};

// found: where what was there goes.
ibv_send_wr request_for(const WordChange& change, ibv_sge& found) noexcept {
    ibv_send_wr wr{};
    wr.sg_list = &found;
    wr.num_sge = 1;
    wr.opcode = change.compares ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.wr.atomic.remote_addr = change.address;
    wr.wr.atomic.rkey = change.rkey;
    wr.wr.atomic.compare_add = word_at(change.compares ? change.compared : change.operand);
    wr.wr.atomic.swap = change.compares ? word_at(change.operand) : 0;
    return wr;
}

} // namespace

// IBTA 1.4, 9.4.5: fetch and add, compare and swap, of 64 bits. Of an address that is not aligned
// the peer says so.
bool Engine::device_can(const AtomicArguments& a) const noexcept {
    const bool adds = a.call != AtomicCall::compare && a.op == FI_SUM;
    const bool swaps = a.call == AtomicCall::compare && a.op == FI_CSWAP;
    if (!adds && !swaps) return false;
    if (!adapter_.has_atomics() || !is_word(a.type) || a.remote.size() != 1) return false;
    const fi_rma_ioc& target = a.remote[0];
    return target.count == 1 && target.addr % sizeof(uint64_t) == 0 &&
           verbs::RemoteKey{target.key}.atomics();
}

// An operation that is over when the call returns: nothing of it is kept. Gives 0, FI_EAGAIN when
// nothing was done, or how it has failed.
int Engine::change_at_once(Lane& lane, const AtomicArguments& a) noexcept {
    const Peer& peer = lane.peer();
    if (peer.atomics > 0 || peer.wants_events || lane.station().beside() || lane.frames_only() ||
        !posting_.empty() || !device_can(a))
        return FI_EAGAIN;
    uint64_t found = 0;
    ibv_sge place{.addr = reinterpret_cast<uint64_t>(&found), .length = sizeof found, .lkey = 0};
    ibv_send_wr wr = request_for({.compares = a.call == AtomicCall::compare,
                                  .address = a.remote[0].addr,
                                  .rkey = verbs::RemoteKey{a.remote[0].key}.rkey(),
                                  .operand = element_of(a.operands),
                                  .compared = element_of(a.compares)},
                                 place);
    if (const int error = lane.deliver(wr)) return error;
    std::byte* const result = element_of(a.results);
    if (result) std::memcpy(result, &found, sizeof found);
    ++counters_.atomics;
    const bool fetches = a.call != AtomicCall::update;
    count(fetches ? settings_.tallies.read : settings_.tallies.written, 0);
    if (settings_.transmit && a.flags & FI_COMPLETION)
        settings_.transmit->push({.context = a.context,
                                  .flags = FI_ATOMIC | (fetches ? FI_READ : FI_WRITE),
                                  .length = sizeof found,
                                  .buffer = result,
                                  .data = 0,
                                  .tag = 0,
                                  .source = FI_ADDR_NOTAVAIL});
    return 0;
}

// The frame that would have gone out has all that the device needs, and room for what it brings.
int Engine::post_device_atomic(Lane& lane, Send& send) noexcept {
    const std::byte* frame = send.buffer->data + wire::kMaxHeader;
    wire::Atomic what;
    std::memcpy(&what, frame, sizeof what);
    wire::RemoteSegment target;
    std::memcpy(&target, frame + sizeof(wire::Atomic), sizeof target);
    const std::byte* operand = frame + sizeof(wire::Atomic) + sizeof target;
    ibv_sge place{.addr = reinterpret_cast<uint64_t>(send.buffer->data),
                  .length = sizeof(uint64_t),
                  .lkey = send.buffer->lkey};
    ibv_send_wr wr =
        request_for({.compares = static_cast<AtomicCall>(what.call) == AtomicCall::compare,
                     .address = target.address,
                     .rkey = target.rkey,
                     .operand = operand,
                     .compared = operand + sizeof(uint64_t)},
                    place);
    wr.send_flags = IBV_SEND_SIGNALED;
    if (const int error = lane.post(wr, verbs::WorkKind::atomic, &send, send.more)) return error;
    lane.set_has_written(true);
    send.posted = true;
    send.peer->went_out(send);
    return 0;
}

// One that may have been done cannot be done again.
void Engine::on_changed(Send& send, Ending end) noexcept {
    send.posted = false;
    if (end.lost() && end.never_begun) return save(*send.peer, send);
    const int error = send.failure ? send.failure : end.lost() ? FI_EIO : error_of(end.status);
    if (!error) send.pieces.fill({send.buffer->data, send.pieces.bytes});
    complete(send, error);
}

} // namespace odrc::transfer
