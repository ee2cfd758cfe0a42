// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What goes out to a peer: at once or in its turn, and how it ends with the peer's lane.

#include "base/log.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {

using ondemand::JobKind;

// Posts the job, or has it wait for its turn. 0, or a positive fi_errno and it is not kept.
// What is urgent waits for room alone: a fence in front of it may wait for what it brings.
int Engine::submit(Peer& peer, Job& job) noexcept {
    const bool its_turn =
        peer.repeats.empty() && (job.urgent || (peer.jobs.empty() && peer.may_go(job)));
    if (its_turn && peer.listens() && peer.lane->has_room() && may_send(peer, job)) {
        const int error = post(*peer.lane, job);
        if (error != FI_EAGAIN) return error;
    }
    if (job.urgent)
        peer.jobs.push_front(job);
    else
        peer.jobs.push_back(job);
    const bool listened = peer.listens();
    connect(peer);
    if (listened)
        block(peer);
    else if (peer.listens()) // it is the first word
        work_off(peer);
    return 0;
}

// Posts what was held back. Frames that the device refuses leave a gap: the lane is given up.
void Engine::flush() noexcept {
    posting_.post_held();
    const auto refused = posting_.refused();
    if (refused.empty()) return;
    std::array<uint64_t, verbs::PostList::kRequests> ids;
    std::ranges::transform(refused, ids.begin(), &ibv_send_wr::wr_id);
    const size_t count = refused.size();
    Lane* lane = peers_.find_lane(stations_.name_of(posting_.refusing_qp()));
    posting_.clear();
    if (!lane) return; // it went with all its work
    ODRC_WARN(FI_LOG_EP_DATA, "{}: {} work requests for {} could not be posted",
              adapter_.port().name(), count, lane->peer().address.text());
    lane->unpost(count);
    if (!lane->failed()) wireup_.drop(lane->peer(), FI_EIO);
    for (const uint64_t id : std::span{ids}.first(count))
        conclude(*lane, verbs::WorkId{id}, IBV_WC_WR_FLUSH_ERR);
}

int Engine::post(Lane& lane, Job& job) noexcept {
    switch (job.kind) {
    case JobKind::send:
        return post(lane, static_cast<Send&>(job));
    case JobKind::fetch:
        return lane.frames_only() ? FI_EAGAIN : post(lane, static_cast<Fetch&>(job));
    case JobKind::rma:
        return lane.frames_only() ? FI_EAGAIN : post(lane, static_cast<Rma&>(job));
    }
    return FI_EOTHER;
}

// Ends a job that is on no list any more. One that a lane still works on ends when that is over.
void Engine::fail(Job& job, int error) noexcept {
    switch (job.kind) {
    case JobKind::send: {
        auto& send = static_cast<Send&>(job);
        send.failure = error;
        if (!send.posted) complete(send, error);
        return;
    }
    case JobKind::fetch: {
        auto& fetch = static_cast<Fetch&>(job);
        if (!fetch.failure) fetch.failure = error;
        if (fetch.under_way == 0) end(fetch, fetch.failure);
        return;
    }
    case JobKind::rma:
        return end(static_cast<Rma&>(job), error);
    }
}

void Engine::await_answer(Peer& peer, Job& job) noexcept {
    if (!std::exchange(job.awaiting, true)) ++unanswered_;
    peer.unanswered.push_back(job);
    look_after_peers();
}

void Engine::answered(Job& job) noexcept {
    job.awaiting = false;
    List<Job>::erase(job);
    --unanswered_;
    if (job.kind == JobKind::send && static_cast<Send&>(job).kind & FI_ATOMIC)
        --static_cast<Send&>(job).peer->atomics;
}

// Off the list that it is on, for no answer comes any more.
void Engine::take_off(Job& job) noexcept {
    if (job.awaiting)
        answered(job);
    else
        List<Job>::erase(job);
}

// Ends what waits for a peer that is lost. What a lane still works on ends when it is flushed.
void Engine::fail_operations(Peer& peer) noexcept {
    const int error = std::exchange(peer.error, 0);
    peer.renewed = false;
    List<Job> lost; // what is submitted meanwhile is for the next lane
    for (List<Job>* jobs : {&peer.unanswered, &peer.repeats, &peer.left, &peer.jobs}) {
        while (auto* job = jobs->front()) {
            take_off(*job);
            lost.push_back(*job);
        }
    }
    peer.stopped = false;
    while (auto* job = lost.pop_front()) fail(*job, error);
    lose_parts(peer, error);
    lose_assemblies(peer, error);
}

// The peer has forgotten what it owed, and what we owe it. What has not begun is not concerned.
void Engine::fail_outdated(Peer& peer) noexcept {
    peer.renewed = false;
    List<Job> lost;
    for (List<Job>* jobs : {&peer.unanswered, &peer.repeats, &peer.left}) {
        while (auto* job = jobs->front()) {
            take_off(*job);
            lost.push_back(*job);
        }
    }
    for (Job* job = peer.jobs.front(); job;) {
        Job* next = peer.jobs.after(*job);
        if (job->urgent || job->out || job->kind == JobKind::fetch) {
            List<Job>::erase(*job);
            lost.push_back(*job);
        }
        job = next;
    }
    while (auto* job = lost.pop_front()) fail(*job, FI_ECONNRESET);
    lose_parts(peer, FI_ECONNRESET);
    lose_assemblies(peer, FI_ECONNRESET);
}

// Lets the peer send more, if it is time, and posts its jobs in order, as far as there is room.
void Engine::work_off(Peer& peer) noexcept {
    peer.stopped = false;
    if (!tell_what_is_due(peer)) return block(peer);
    if (!peer.repeats.empty() && !repeat(peer)) return;
    while (Job* job = peer.jobs.front()) {
        if (!peer.listens()) return; // it changes again: see take_changes()
        int error = FI_EAGAIN;
        if (peer.lane->has_room() && peer.may_go(*job) && may_send(peer, *job)) {
            List<Job>::erase(*job);
            error = post(*peer.lane, *job);
            if (error == FI_EAGAIN) peer.jobs.push_front(*job);
        }
        if (error == 0) continue;
        if (error == FI_EAGAIN) return block(peer);
        fail(*job, error);
    }
}

// The peer's jobs wait until there is room.
void Engine::block(Peer& peer) noexcept {
    const Job* next = peer.repeats.empty() ? peer.jobs.front() : peer.repeats.front();
    if (next && peer.lane->has_room() && !may_send(peer, *next)) return stop(peer);
    if (!wait_for_end_of_batch(peer)) return;
    const bool active = wireup_.active();
    wireup_.crowd(peer);
    if (!active && wireup_.active()) watchdog_.wake();
}

// False if it does already.
bool Engine::wait_for_end_of_batch(Peer& peer) noexcept {
    if (static_cast<ListNode<ondemand::Blocked>&>(peer).linked()) return false;
    blocked_.push_back(peer);
    return true;
}

// Something was done, so that there is room again.
void Engine::unblock() noexcept {
    List<Peer, ondemand::Blocked> waiting;
    while (Peer* peer = blocked_.pop_front()) waiting.push_back(*peer);
    while (Peer* peer = waiting.pop_front()) work_off(*peer);
}

} // namespace odrc::transfer
