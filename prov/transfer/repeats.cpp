// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What went down with a lane that broke goes again over the next one, before all else and in the
// order in which it went out.
//
// A frame keeps its number, by which the peer knows it if it had come after all. How many it has
// taken the peer says while the lane is made. It may have taken more by then than it knew: what it
// found in its completion queue later, but before anything of the new lane. These come again, and
// are dropped there. A write is made again whole, unless the peer has a frame that went behind it;
// a read is made again.

#include "base/log.hpp"
#include "transfer/engine.hpp"
#include "transfer/status.hpp"

#include <cstring>

namespace odrc::transfer {

using ondemand::JobKind;

namespace {

bool is_write(const Job& job) noexcept {
    return job.kind == JobKind::rma && static_cast<const Rma&>(job).kind == FI_WRITE;
}

// The peer has its frame, or the note behind it.
bool is_taken(const Peer& peer, const Job& job) noexcept {
    if (job.kind == JobKind::send) {
        const auto& send = static_cast<const Send&>(job);
        return send.numbered && is_before(send.header.sequence, peer.taken);
    }
    if (job.kind == JobKind::fetch) return false;
    const auto& rma = static_cast<const Rma&>(job);
    return rma.noted && is_before(rma.note_sequence, peer.taken);
}

} // namespace

Ending Engine::ending_of(const Lane& lane, ibv_wc_status status) noexcept {
    return {.status = status,
            .session_stands = lane.peer().in_session(lane.session()),
            .never_begun = lane.refused()};
}

// Completions come in the order of the work requests; the last one of a job gives its place.
void Engine::save(Peer& peer, Job& job) noexcept {
    if (job.linked()) List<Job>::erase(job);
    peer.repeats.push_back(job);
}

// Of what was injected nothing is left but a copy.
void Engine::save(Lane& lane, srq::Buffer& copy, Ending end) noexcept {
    Kept kept;
    std::memcpy(&kept, copy.data, sizeof kept);
    if (kept.write ? end.lost() : end.frame_lost()) {
        if (kept.write ? revive_write(lane.peer(), copy, kept)
                       : revive_send(lane.peer(), copy, kept))
            return;
        wireup_.drop(lane.peer(), FI_ENOMEM);
    }
    injects_.give_back(&copy);
}

bool Engine::revive_send(Peer& peer, srq::Buffer& copy, const Kept& kept) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return false;
    ++transmitting_;
    std::memcpy(&send->header, copy.data + wire::kMaxHeader - kept.header, sizeof send->header);
    if (send->header.flags & wire::kData)
        std::memcpy(&send->data, copy.data + wire::kMaxHeader - sizeof send->data,
                    sizeof send->data);
    send->numbered = send->told = true;
    send->length = kept.length;
    send->pool = &injects_;
    send->buffer = &copy;
    peer.went_out(*send);
    save(peer, *send);
    return true;
}

bool Engine::revive_write(Peer& peer, srq::Buffer& copy, const Kept& kept) noexcept {
    Rma* rma = rmas_.create(peer);
    if (!rma) return false;
    ++transmitting_;
    if (!rma->copy.remote.make(1, longs_.segments) ||
        !rma->copy.keys.make(1, longs_.registrations)) {
        release(*rma);
        return false;
    }
    rma->copy.remote[0] = {.address = kept.address,
                           .length = kept.length,
                           .rkey = kept.rkey,
                           .soft_rkey = kept.soft_rkey};
    rma->copy.bytes = kept.length;
    rma->kind = FI_WRITE;
    rma->pool = &injects_;
    rma->buffer = &copy;
    rma->told = rma->moved = true;
    rma->lost = 1;
    peer.went_out(*rma);
    save(peer, *rma);
    return true;
}

// The peer waits for the frame of that number, and it cannot be sent.
void Engine::fill_gap(Peer& peer, uint32_t sequence) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return wireup_.drop(peer, FI_ENOMEM);
    send->urgent = send->numbered = true;
    send->header.kind = wire::FrameKind::nothing;
    send->header.sequence = sequence;
    peer.went_out(*send);
    save(peer, *send);
}

// Ends what the peer has: frames that it has taken, and writes before them.
void Engine::pass_over_taken(Peer& peer) noexcept {
    Job* last = nullptr;
    for (Job* job = peer.repeats.front(); job; job = peer.repeats.after(*job))
        if (is_taken(peer, *job)) last = job;
    for (Job* job = last ? peer.repeats.front() : nullptr; job;) {
        Job* next = job == last ? nullptr : peer.repeats.after(*job);
        if (is_taken(peer, *job) || is_write(*job)) arrived(peer, *job);
        job = next;
    }
}

// A job that was to be repeated need not be.
void Engine::arrived(Peer& peer, Job& job) noexcept {
    List<Job>::erase(job);
    if (job.kind == JobKind::rma) static_cast<Rma&>(job).lost = 0;
    if (job.awaiting)
        peer.unanswered.push_back(job);
    else if (job.kind == JobKind::rma)
        complete(static_cast<Rma&>(job));
    else
        complete(static_cast<Send&>(job), static_cast<Send&>(job).failure);
}

// Posts what is to be repeated, as far as there is room. True when nothing is left of it.
bool Engine::repeat(Peer& peer) noexcept {
    if (!peer.ready()) return false;
    pass_over_taken(peer);
    while (Job* job = peer.repeats.front()) {
        int error = FI_EAGAIN;
        if (peer.lane->has_room() && may_send(peer, *job)) {
            List<Job>::erase(*job);
            error = post(*peer.lane, *job);
            if (error == FI_EAGAIN) peer.repeats.push_front(*job);
        }
        if (error == 0) continue;
        if (error == FI_EAGAIN) {
            block(peer);
        } else { // what is behind it must not go without it
            peer.repeats.push_front(*job);
            wireup_.drop(peer, error);
        }
        return false;
    }
    return true;
}

} // namespace odrc::transfer
