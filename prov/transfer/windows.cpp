// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Flow control (srq/window.hpp). Every frame says how many its sender takes; who gets many and has
// nothing to send says so in a frame of its own, a grant. A job that the peer's window has no room
// for waits with all that is behind it.
//
// That this ends, whatever both sides wait for:
//
// A window that is used up is due, and who received what used it up grants more, at the latest when
// it looks at its completions the next time. A grant needs no window itself, nor a receive of the
// program's: what it lets come is kept, if nobody waits for it. (Where there is no room for more,
// room.cpp has the exception.)
//
// Neither do answers: each is to a frame that was within its own window, or to a read, so that
// these bound them. What answers is sent, then, whatever waits.
//
// Grants are not counted: were they, two sides of which each takes one frame at a time would grant
// each other for ever. A grant is lost with its lane alone, and the next lane begins with the
// window as it is then. The side that waits notices that a lane is over by a probe, at the latest.
//
// A peer whose program does not look for its completions is nudged by a datagram, and its watchdog
// looks.

#include "base/log.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {

using ondemand::JobKind;

namespace {

using namespace std::chrono_literals;

// What waits for a window is looked after for the first time after so long, and then ever more
// seldom. Programs that make progress do not need it.
constexpr auto kFirstLook = 5ms;
constexpr auto kLastLook = 1000ms;

} // namespace

// Goes out whether the window has room for a new frame or not: it is none that the peer keeps, or
// one that is repeated, and has room by its own number. (That it had before does not say so: it may
// have gone into a ring.)
bool Engine::is_beside_window(const Peer& peer, const Job& job) noexcept {
    if (job.urgent) return true;
    if (job.kind == JobKind::rma) return job.out || static_cast<const Rma&>(job).note == 0;
    const auto& send = static_cast<const Send&>(job);
    return send.numbered && peer.window_is_open_to(send.header.sequence);
}

// Lets the peer send more. False while the lane has no room to say so.
bool Engine::grant(Peer& peer) noexcept {
    Lane& lane = peer.lane_for_words();
    if (!lane.has_place()) return false;
    const uint64_t freed = lane.ring() ? lane.ring()->tell() : 0;
    counters_.credit_grants += post_uncounted(lane, wire::FrameKind::grant, freed);
    return true;
}

// Tells the peer what goes in no other frame. False while the lane has no room for that.
bool Engine::tell_what_is_due(Peer& peer) noexcept {
    if (!peer.ready()) return true;
    if (peer.lane->leaves_ring() && !leave_ring(*peer.lane)) return false;
    return !owes_window(peer) || grant(peer);
}

// The peer's next job waits for its window.
void Engine::stop(Peer& peer) noexcept {
    if (std::exchange(peer.stopped, true)) return;
    peer.stopped_then = false;
    ++counters_.credit_waits;
    if (!std::exchange(watch_.looking, true)) watchdog_.wake();
}

// The watchdog's: a program that has sent all it had may not come back to see it go, and one that
// has been sent something may be busy elsewhere.
void Engine::look_at_stopped(Time now) noexcept {
    bool any = false, any_again = false;
    peers_.for_each([&](Peer& peer) {
        if (!peer.stopped) return;
        any = true;
        any_again |= peer.stopped_then;
    });
    if (any_again)
        while (poll()) {
        }
    peers_.for_each([&](Peer& peer) {
        if (!peer.stopped || !std::exchange(peer.stopped_then, true)) return;
        if (peer.ready()) wireup_.nudge(peer);
        ask_whether_there(peer);
    });
    watch_.looking = any;
    watch_.look_every =
        any_again ? std::min<Clock::duration>(2 * watch_.look_every, kLastLook) : kFirstLook;
    watch_.look_at = any ? now + watch_.look_every : kNever;
}

} // namespace odrc::transfer
