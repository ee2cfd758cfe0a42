// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The short way of a write that the program makes itself, and of a write or send that is carried
// inline in one segment, over a connection on which nothing waits: what small messages are made of,
// where every nanosecond counts.

#include "softrc/busy.hpp"
#include "softrc/copy_bytes.hpp"
#include "softrc/faults.hpp"
#include "softrc/opcodes.hpp"
#include "softrc/queue_pair.hpp"
#include "verbs_rc/device.hpp"

#include <cerrno>

namespace odrc::soft {

// Where a write goes. Null if it may not go there, or this process does not see it.
[[gnu::always_inline]] inline std::byte* QueuePair::find_target(uint64_t address, uint32_t rkey,
                                                                uint32_t length) noexcept {
    if (link_.port->access.load(std::memory_order_relaxed) & IBV_ACCESS_REMOTE_WRITE) [[likely]]
        if (std::byte* to = link_.target.find(rkey, address, length)) return to;
    return find_new_target(address, rkey, length);
}

std::byte* QueuePair::find_new_target(uint64_t address, uint32_t rkey, uint32_t length) noexcept {
    Place place;
    if (find_remote(address, rkey, length, IBV_ACCESS_REMOTE_WRITE, place) != IBV_WC_SUCCESS ||
        !place.mapped)
        return nullptr;
    link_.target.keep(link_.process->arena(), link_.process->own(), place);
    return place.mapped;
}

std::byte* QueuePair::begin_write(uint64_t address, uint32_t rkey, uint32_t length) noexcept {
    std::unique_lock guard{lock_};
    if (kFaults || !is_at_ease()) return nullptr;
    Busy busy{*port_};
    std::byte* const to = peer_is_ready() ? find_target(address, rkey, length) : nullptr;
    if (!to) return nullptr;
    busy.stay();
    guard.release();
    return to;
}

void QueuePair::end_write() noexcept {
    Busy::end(*port_);
    lock_.unlock();
}

// Nothing, and nothing done, if there is anything special about the request or the moment. It goes
// the long way then, which decides what becomes of it.
[[gnu::always_inline]] inline std::optional<ibv_wc_status>
QueuePair::carry_out_at_once(const ibv_send_wr& wr) noexcept {
    const bool write = wr.opcode == IBV_WR_RDMA_WRITE;
    if (kFaults || (!write && wr.opcode != IBV_WR_SEND) || !(wr.send_flags & IBV_SEND_INLINE) ||
        wr.num_sge != 1 || !is_at_ease())
        return std::nullopt;
    const ibv_sge& s = *wr.sg_list;
    if (s.length == 0 || s.length > cap_.max_inline_data || !has_room()) return std::nullopt;
    const Busy busy{*port_};
    if (!peer_is_ready()) return std::nullopt;
    if (!write) {
        if (!link_.refresh()) return std::nullopt;
        const iovec piece{reinterpret_cast<void*>(s.addr), s.length};
        const Outcome outcome = send(wr, {{&piece, 1}, s.length});
        if (outcome.verdict != Verdict::done) return std::nullopt;
        return outcome.status;
    }
    std::byte* const to = find_target(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, s.length);
    if (!to) return std::nullopt;
    copy_bytes(to, reinterpret_cast<const void*>(s.addr), s.length);
    return IBV_WC_SUCCESS;
}

// What is over when the call returns, or was not done.
[[gnu::always_inline]] inline int QueuePair::carry_out_now(const ibv_send_wr& wr) noexcept {
    if (what_is(wr.opcode).atomic) return change_at_once(wr);
    return wr.opcode == IBV_WR_SEND ? send_at_once(wr) : EAGAIN;
}

int QueuePair::post_send(ibv_send_wr* wr, ibv_send_wr** bad_wr) noexcept {
    std::lock_guard guard{lock_};
    while (wr) {
        if (wr->send_flags & verbs::kDeliver) {
            if (const int error = carry_out_now(*wr)) {
                *bad_wr = wr;
                return error;
            }
        } else if (const auto status = carry_out_at_once(*wr)) {
            conclude(*wr, *status);
        } else if (ibv_send_wr* const behind = carry_out_run(wr); behind != wr) {
            wr = behind;
            continue;
        } else if (const int error = accept(*wr)) {
            *bad_wr = wr;
            return error;
        }
        wr = wr->next;
    }
    return 0;
}

} // namespace odrc::soft
