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

// The frame that would have gone out has all that the device needs, and room for what it brings.
int Engine::post_device_atomic(Lane& lane, Send& send) noexcept {
    const std::byte* frame = send.buffer->data + wire::kMaxHeader;
    wire::Atomic what;
    std::memcpy(&what, frame, sizeof what);
    const bool compares = static_cast<AtomicCall>(what.call) == AtomicCall::compare;
    wire::RemoteSegment target;
    std::memcpy(&target, frame + sizeof(wire::Atomic), sizeof target);
    const std::byte* operand = frame + sizeof(wire::Atomic) + sizeof target;
    ibv_sge place{.addr = reinterpret_cast<uint64_t>(send.buffer->data),
                  .length = sizeof(uint64_t),
                  .lkey = send.buffer->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &place;
    wr.num_sge = 1;
    wr.opcode = compares ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.atomic.remote_addr = target.address;
    wr.wr.atomic.rkey = target.rkey;
    wr.wr.atomic.compare_add = word_at(compares ? operand + sizeof(uint64_t) : operand);
    wr.wr.atomic.swap = compares ? word_at(operand) : 0;
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
