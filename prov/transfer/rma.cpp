// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The application's reads and writes of its peers' memory: RDMA reads and writes of the device.

#include "base/log.hpp"
#include "transfer/engine.hpp"
#include "transfer/status.hpp"
#include "verbs_rc/remote_key.hpp"

#include <cstring>
#include <rdma/fi_endpoint.h>

namespace odrc::transfer {
namespace {

bool beyond_any_key(std::span<const fi_rma_iov> remote) noexcept {
    return std::ranges::any_of(
        remote, [](const fi_rma_iov& v) { return !verbs::RemoteKey{v.key}.possible(); });
}

} // namespace

ssize_t Engine::begin(const RmaArguments& a) noexcept {
    if (a.iov.size() > segments_ || a.remote.size() > segments_) return -FI_EINVAL;
    const size_t length = length_of(a.iov);
    const bool inject = a.flags & FI_INJECT;
    if (length > (inject ? kInjectSize : kMaxMessage)) return -FI_EMSGSIZE;
    if (length_of(a.remote) != length) return -FI_EINVAL;
    if (beyond_any_key(a.remote)) return -FI_EKEYREJECTED;
    if (transmitting_ >= settings_.transmit_size ||
        (settings_.transmit && settings_.transmit->full()))
        return -FI_EAGAIN;
    Peer* peer = peers_.find(a.to);
    if (!peer) return -FI_EINVAL;

    constexpr uint64_t kTracked = FI_COMPLETION | FI_FENCE | FI_REMOTE_CQ_DATA | FI_MORE;
    if (inject && !(a.flags & kTracked) && !peer->wants_events && may_post(*peer) &&
        !peer->lane->frames_only() && length <= peer->lane->max_inline() && a.remote.size() == 1 &&
        a.iov.size() <= segments_)
        return write_at_once(*peer->lane, a, length);

    Rma* rma = make_rma(*peer, a, length);
    if (!rma) return -FI_EAGAIN;
    const int error = submit(*peer, *rma);
    if (error == 0) return 0;
    if (rma->under_way == 0) {
        release(*rma);
        return -error;
    }
    end(*rma, error);
    return 0;
}

// Nobody awaits its completion and the device takes it with the call: a copy is all that is kept.
ssize_t Engine::write_at_once(Lane& lane, const RmaArguments& a, size_t length) noexcept {
    srq::Buffer* copy = copy_into_buffer(injects_, a.iov);
    if (!copy) return -FI_EAGAIN;
    const verbs::RemoteKey key{a.remote[0].key};
    const Kept kept{.address = a.remote[0].addr,
                    .rkey = key.rkey(),
                    .soft_rkey = key.soft_rkey(),
                    .length = static_cast<uint16_t>(length),
                    .header = 0,
                    .write = true};
    std::memcpy(copy->data, &kept, sizeof kept);
    Segments segments;
    segments.add(copy->data + wire::kMaxHeader, length, 0);
    ibv_send_wr wr{};
    wr.sg_list = segments.list.data();
    wr.num_sge = static_cast<int>(segments.count);
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_INLINE;
    wr.wr.rdma.remote_addr = kept.address;
    wr.wr.rdma.rkey = lane.station().beside() ? kept.soft_rkey : kept.rkey;
    if (const int error = lane.post(wr, verbs::WorkKind::lane, &lane)) {
        injects_.give_back(copy);
        return -error;
    }
    lane.set_has_written(true);
    lane.keep(*copy);
    ++counters_.rma_operations;
    counters_.rma_bytes += length;
    count(settings_.tallies.written, 0);
    return 0;
}

Rma* Engine::make_rma(Peer& peer, const RmaArguments& a, size_t length) noexcept {
    Rma* rma = rmas_.create(peer);
    if (!rma) return nullptr;
    ++transmitting_;
    rma->fenced = (a.flags & FI_FENCE) != 0;
    rma->more = (a.flags & FI_MORE) != 0;
    rma->context = a.context;
    rma->kind = a.flags & (FI_READ | FI_WRITE);
    rma->wanted = (a.flags & FI_COMPLETION) != 0;
    rma->report_errors = rma->wanted || !(a.flags & FI_INJECT);
    rma->data = a.data;
    if (a.flags & FI_REMOTE_CQ_DATA) rma->note |= wire::kData;
    if (rma->wanted && rma->kind == FI_WRITE && a.flags & kConfirmed) rma->note |= wire::kConfirm;
    RemoteCopy& copy = rma->copy;
    copy.bytes = length;
    const size_t keys = std::max<size_t>(a.iov.size(), 1); // that of a copy, if there is one
    if (!copy.remote.make(a.remote.size(), longs_.segments) ||
        !copy.keys.make(keys, longs_.registrations)) {
        release(*rma);
        return nullptr;
    }
    for (size_t i = 0; i < a.remote.size(); ++i) {
        const verbs::RemoteKey key{a.remote[i].key};
        copy.remote[i] = {.address = a.remote[i].addr,
                          .length = a.remote[i].len,
                          .rkey = key.rkey(),
                          .soft_rkey = key.soft_rkey()};
    }
    if (a.flags & FI_INJECT) { // the caller takes its memory back at once
        rma->pool = &injects_;
        rma->buffer = copy_into_buffer(injects_, a.iov);
        if (rma->buffer) return rma;
    } else if (rma->pieces.assign(a.iov, longs_)) {
        for (size_t i = 0; a.keys && i < a.iov.size(); ++i)
            copy.keys[i] = {static_cast<uint32_t>(reinterpret_cast<uintptr_t>(a.keys[i])), 0};
        return rma;
    }
    release(*rma);
    return nullptr;
}

// Posts work requests, in one call, until the lane is full. All are signaled, so that we know when
// none is left to touch the memory, whatever becomes of the lane.
int Engine::post(Lane& lane, Rma& rma) noexcept {
    if (rma.lost > 0) rewind(rma);
    if (!rma.prepared)
        if (const int error = prepare(lane, rma)) return error;
    while (!rma.all_out()) {
        if (!lane.has_room()) return FI_EAGAIN;
        if (const int error = rma.moved ? post_note(lane, rma) : post_part(lane, rma)) return error;
        ++rma.under_way;
        if (rma.out) continue;
        rma.peer->went_out(rma);
        ++counters_.rma_operations;
        counters_.rma_bytes += rma.copy.bytes;
    }
    return 0;
}

// Some of it went down with a lane: the note alone, which is the last of it, or more.
void Engine::rewind(Rma& rma) noexcept {
    if (rma.lost > 1 || !rma.noted) {
        rma.copy.rewind();
        rma.moved = false;
    }
    rma.noted = false;
    rma.lost = 0;
}

// Finds the local side of the copy: what the work request takes with it needs no key; what the
// application has not registered goes through a buffer of ours, or is registered by us.
int Engine::prepare(const Lane& lane, Rma& rma) noexcept {
    RemoteCopy& copy = rma.copy;
    const std::span pieces = rma.pieces.list();
    const bool writes = rma.kind == FI_WRITE;
    const bool fits_inline = writes && copy.bytes <= lane.max_inline();
    const bool any_memory = lane.adapter().whole_memory_key().has_value();
    const bool is_known = any_memory || rma.has_keys();
    const bool is_copied =
        !fits_inline && copy.bytes > 0 &&
        copy.bytes <= (is_known ? crossovers(lane).copied : crossovers(lane).unregistered);
    if (!rma.buffer && is_copied) {
        if (has_many_frames()) return FI_EAGAIN;
        rma.pool = &frames_;
        rma.buffer = writes ? copy_into_buffer(frames_, pieces) : frames_.take();
        if (!rma.buffer) return FI_EAGAIN;
    }
    if (rma.buffer) {
        rma.copied = {rma.buffer->data + wire::kMaxHeader, copy.bytes};
        copy.local = {&rma.copied, 1};
        copy.keys[0] = {lane.key_of(*rma.buffer), 0};
    } else {
        copy.local = pieces;
        const int access = writes ? 0 : IBV_ACCESS_LOCAL_WRITE;
        const int error = fits_inline ? 0
                                      : register_list(lane.adapter(), pieces, copy.bytes, access,
                                                      adapter_.now(), copy.keys.list());
        if (error) return error;
    }
    if (rma.peer->wants_events) rma.note |= wire::kEvent;
    // A device that is only shared memory has placed the bytes when it says that it is done; of
    // any other, the peer must have seen something that came behind them.
    if (lane.adapter().port().this_host_only) rma.note &= static_cast<uint8_t>(~wire::kConfirm);
    rma.prepared = true;
    return 0;
}

int Engine::post_part(Lane& lane, Rma& rma) noexcept {
    ibv_send_wr wr{};
    Segments segments;
    const bool reads = rma.kind == FI_READ;
    const size_t bytes = rma.copy.next(lane.station().beside(), most_at_once_,
                                       reads ? read_segments_ : segments_, wr, segments);
    // Of no bytes it is a write, too (see Lane::probe).
    wr.opcode = reads && bytes > 0 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    if (!reads && bytes <= lane.max_inline()) wr.send_flags |= IBV_SEND_INLINE;
    const bool more = rma.more || bytes < rma.copy.left() || rma.note != 0;
    if (const int error = lane.post(wr, verbs::WorkKind::rma, &rma, more)) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: {} bytes to or from {} could not be posted: {}",
                  lane.adapter().port().name(), bytes, lane.peer().address.text(),
                  fi_strerror(error));
        return error;
    }
    if (!reads) lane.set_has_written(true);
    rma.copy.advance(bytes);
    rma.moved = rma.copy.left() == 0;
    return 0;
}

// ---- the end ----------------------------------------------------------------------------------

// The lane is done with a work request.
void Engine::on_moved(Rma& rma, Ending ending) noexcept {
    --rma.under_way;
    if (ending.lost() && !rma.was_placed()) {
        ++rma.lost;
        if (rma.all_out()) save(*rma.peer, rma);
    } else if (!ending.lost() && !rma.failure) {
        rma.failure = error_of(ending.status);
    }
    if (rma.under_way > 0) return;
    if (rma.failure) {
        if (rma.noted && ending.session_stands) fill_gap(*rma.peer, rma.note_sequence);
        if (rma.awaiting)
            answered(rma);
        else if (rma.linked())
            List<Job>::erase(rma); // the rest of it waited for room
        return complete(rma);
    }
    if (rma.all_out() && !rma.awaiting && rma.lost == 0) complete(rma);
}

// Ends an operation that is on no list any more, once the lane is done with it.
void Engine::end(Rma& rma, int error) noexcept {
    if (!rma.failure) rma.failure = error;
    if (rma.under_way == 0) complete(rma);
}

void Engine::complete(Rma& rma) noexcept {
    const uint64_t flags = FI_RMA | rma.kind;
    if (rma.kind == FI_READ && rma.copied.iov_base && !rma.failure)
        rma.pieces.fill({static_cast<const std::byte*>(rma.copied.iov_base), rma.copy.bytes});
    give_back(rma.copy.keys.list()); // before anyone hears that the memory is his again
    if (!rma.told)
        count(rma.kind == FI_READ ? settings_.tallies.read : settings_.tallies.written,
              rma.failure);
    if (settings_.transmit && rma.failure && rma.report_errors) {
        fi_cq_err_entry entry{};
        entry.op_context = rma.context;
        entry.flags = flags;
        entry.len = rma.copy.bytes;
        entry.buf = rma.pieces.first();
        entry.err = rma.failure;
        entry.prov_errno = rma.failure;
        settings_.transmit->push_error(entry);
    } else if (settings_.transmit && !rma.failure && rma.wanted) {
        settings_.transmit->push({.context = rma.context,
                                  .flags = flags,
                                  .length = rma.copy.bytes,
                                  .buffer = rma.pieces.first(),
                                  .data = 0,
                                  .tag = 0,
                                  .source = FI_ADDR_NOTAVAIL});
    }
    release(rma);
}

void Engine::release(Rma& rma) noexcept {
    give_back(rma.copy.keys.list());
    if (rma.buffer) rma.pool->give_back(rma.buffer);
    rma.peer->over(rma);
    --transmitting_;
    rmas_.destroy(&rma);
}

// The first bytes of an operation's pieces.
int Engine::register_list(verbs::Adapter& adapter, std::span<const iovec> pieces, size_t bytes,
                          int access, Moment handed_over,
                          std::span<verbs::Registration> keys) noexcept {
    if (const int error = verbs::register_list(adapter, pieces, bytes, access, handed_over, keys))
        return error;
    for (const verbs::Registration& key : keys) {
        counters_.registrations += key.fresh();
        counters_.registrations_found += key.cached() && !key.fresh();
        counters_.registered(key.bytes());
    }
    return 0;
}

void Engine::give_back(std::span<verbs::Registration> keys) noexcept {
    for (verbs::Registration& key : keys) {
        counters_.deregistered(key.bytes());
        key = {};
    }
}

} // namespace odrc::transfer
