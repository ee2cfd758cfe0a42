// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How much is kept of what comes before its receive. A part of the endpoint's memory is for that
// (srq::MemoryBudget). When half of it is used, every frame tells so: peers announce what they
// would have sent with its bytes, write nothing into rings, and are let send one frame at a time.
// When all of it is used, they are let send nothing more: what still comes is what their windows
// and rings had room for.
//
// A program that waits for something is another matter: what it waits for may be behind what is
// kept, or come from a peer that is let send nothing. As long as it has a receive posted that has
// not met its message, each peer may send one frame at a time; when it has looked for a message in
// vain (FI_PEEK), one more. So memory is bounded for as long as the program does not ask for
// messages, and what it asks for comes. Of a program that does not even look, nothing more is taken
// in in its stead.
//
// Packets of groups are kept within a bound of their own (multicast_credit.hpp), and are counted
// here up to a quarter of the room: they make others wait sooner, but alone they never make anybody
// wait who may have to pass packets on.
//
// Who is stopped gives its connection up when it is asked to (Wireup::on_leave): the one that is
// waited for may have none. It begins anew with one frame.

#include "base/log.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {

void Engine::change_room() noexcept {
    const bool was_full = room_.is(Room::State::none);
    const bool had_much = room_.is(Room::State::much);
    room_.become(room_.with(kept_bytes()));
    const bool narrow = !room_.is(Room::State::much);
    stations_.for_each([narrow](ondemand::Station& at) { at.shares().narrow(narrow); });
    if (had_much) tell_ring_peers();
    if (was_full)
        grant_all_that_is_due();
    else if (room_.is(Room::State::none))
        ODRC_INFO(FI_LOG_EP_DATA,
                  "{}: {} bytes of messages wait for their receives: no more are let come",
                  adapter_.port().name(), kept_bytes());
}

// Windows do not hold up what goes into rings, and no grant is due for it: that there is little
// room they are told at once.
void Engine::tell_ring_peers() noexcept {
    for (const Lane* lane : stations_.rings())
        if (lane->peer().ready()) grant(lane->peer());
}

void Engine::grant_all_that_is_due() noexcept {
    peers_.for_each([this](Peer& peer) {
        if (owes_window(peer)) work_off(peer);
    });
}

void Engine::let_each_send_one() noexcept {
    wanted_ = true;
    grant_all_that_is_due();
    wanted_ = false;
}

} // namespace odrc::transfer
