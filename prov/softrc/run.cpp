// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The way of reads or writes that follow each other in a list, over a connection on which nothing
// waits: those of private memory go into one system call, which costs more than a small one's copy.

#include "softrc/busy.hpp"
#include "softrc/faults.hpp"
#include "softrc/opcodes.hpp"
#include "softrc/private_copy.hpp"
#include "softrc/queue_pair.hpp"

namespace odrc::soft {
namespace {

// So much takes the kernel so long that a call for it alone makes no difference; and a completion
// should not wait for others for ever.
constexpr uint64_t kEnough = 1 << 18;

} // namespace

// Takes one more request into a run, and adds to done what is moved at once. False, and nothing
// done, if it does not belong there: because there is anything special about it, or an error in it,
// or because it would overtake those that wait in the batch.
bool QueuePair::join_run(const ibv_send_wr& wr, PrivateCopy& batch, uint64_t& done) noexcept {
    const bool reads = what_is(wr.opcode).brings_data;
    const bool carried = wr.send_flags & IBV_SEND_INLINE;
    if (static_cast<uint32_t>(wr.num_sge) > cap_.max_send_sge) return false;
    const auto count = static_cast<size_t>(wr.num_sge);
    const uint64_t length = length_of(wr);
    if (length == 0 || length > kMaxMessage || !batch.has_room(count)) return false;
    if (carried && (reads || length > cap_.max_inline_data)) return false;
    Place place;
    if (find_remote(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, static_cast<uint32_t>(length),
                    reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE,
                    place) != IBV_WC_SUCCESS)
        return false;
    if (place.mapped ? !batch.empty() : !link_.process->lets_us_in()) return false;
    iovec pieces[kMaxSendSegments];
    for (size_t i = 0; i < count; ++i)
        pieces[i] = {reinterpret_cast<void*>(wr.sg_list[i].addr), wr.sg_list[i].length};
    if (!carried && !find_registered(wr, pieces)) return false;
    if (place.mapped) {
        const Direction direction = reads ? Direction::from_peer : Direction::to_peer;
        copy(process_, *link_.process, direction, {pieces, count}, {&place, 1});
        done += length;
        return true;
    }
    for (const iovec& piece : std::span{pieces, count}) {
        if (piece.iov_len == 0) continue;
        batch.add(static_cast<std::byte*>(piece.iov_base), place.address, piece.iov_len);
        place.address += piece.iov_len;
    }
    return true;
}

// Carries out as many requests as make a run, and gives the one behind them: that itself, and
// nothing is done, if there is none. It goes the long way then, which decides what becomes of it.
ibv_send_wr* QueuePair::carry_out_run(ibv_send_wr* const first) noexcept {
    const bool reads = first->opcode == IBV_WR_RDMA_READ;
    if (kFaults || (!reads && first->opcode != IBV_WR_RDMA_WRITE) || !first->next ||
        first->next->opcode != first->opcode || !is_at_ease())
        return first;
    ibv_send_wr* next = first;
    uint64_t done = 0;
    ibv_wc_status status = IBV_WC_SUCCESS; // of what is not done
    {
        const Busy busy{*port_};
        if (!peer_is_ready()) return first;
        PrivateCopy batch{*link_.process, reads ? Direction::from_peer : Direction::to_peer};
        uint64_t bytes = 0;
        for (uint32_t begun = 0; next && next->opcode == first->opcode && bytes < kEnough &&
                                 has_room(begun) && join_run(*next, batch, done);
             next = next->next, ++begun)
            bytes += length_of(*next);
        if (const int error = batch.flush()) status = refuse(status_of(error)).status;
        done += batch.moved();
    }
    for (ibv_send_wr* wr = first; wr != next; wr = wr->next) {
        const uint64_t length = length_of(*wr);
        if (length > done) {
            conclude(*wr, status);
            return wr->next; // which goes the way of all that comes after an error
        }
        done -= length;
        conclude(*wr, IBV_WC_SUCCESS);
    }
    return next;
}

} // namespace odrc::soft
