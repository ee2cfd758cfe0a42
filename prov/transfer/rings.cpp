// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who has a ring (srq/ring.hpp), and what is said of rings.
//
// A frame takes the ring if it goes inline and the ring has room for it, and the lane's sends
// otherwise: nothing ever waits for a ring. Its number says where it belongs among what comes
// another way. What is in the ring waits for what has not been found in the completion queue; what
// is found there was sent after all that it must wait for was written, so that this is in the ring.
//
// A ring lives and ends with its lane. While that lives the receiver may ask for it back: the peer
// goes back to sends, and says so in one, behind which nothing more is written. When the lane
// breaks, what has come whole is taken before the peer is told how much that was. The rest it
// repeats, as its device has not told it that it is done.
//
// What is in a ring wakes nobody. Where the watchdog makes progress in the program's stead, it
// gives rings away only while the program looks for what comes; before it sleeps it asks for all of
// them back, and comes by and looks itself until it has them.

#include "base/error.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {
namespace {

// Of a lane that has failed, or whose peer is asked to leave, nothing new is begun.
bool may_tell(const Lane& lane) noexcept {
    return !lane.failed() && lane.peer().ready() && lane.has_place();
}

} // namespace

// So many short frames have come over the lane that its peer may have a ring.
void Engine::think_about_ring(Lane& lane) noexcept {
    if (lane.ring()) return;
    ondemand::RingLanes& rings = stations_.rings();
    // By datagrams none, until it is promoted.
    if (lane.by_datagrams() || !rings.gives()) return rings.begin_anew(lane.short_frames());
    if (rings.full()) {
        if (Lane* other = rings.gives_way_to(lane.short_frames())) ask_back(*other);
    } else if (may_tell(lane)) {
        give_ring(lane);
    }
    rings.begin_anew(lane.short_frames());
}

void Engine::ask_back(Lane& lane) noexcept {
    if (may_tell(lane) && tell_of_ring(lane, wire::RingWord::recall)) lane.set_ring_recalled();
}

bool Engine::take_rings_back() noexcept {
    if (!settings_.automatic) return true; // the program looks into them itself
    ondemand::RingLanes& rings = stations_.rings();
    rings.set_gives(false);
    std::array<Lane*, ondemand::RingLanes::kMost> lanes; // one may end over it
    const auto end = std::copy(rings.begin(), rings.end(), lanes.begin());
    for (auto lane = lanes.begin(); lane != end; ++lane)
        if (!(*lane)->ring_is_recalled()) ask_back(**lane);
    return rings.empty();
}

void Engine::give_ring(Lane& lane) noexcept {
    const int error = -guarded([&] {
        lane.set_ring(lane.station().make_ring());
        return 0;
    });
    if (error) return; // it was logged, and goes on as it does
    const wire::RingOffer offer = lane.ring()->offer();
    if (!tell_of_ring(lane, wire::RingWord::offer, std::as_bytes(std::span{&offer, 1}))) return;
    stations_.rings().add(lane);
}

// False if the lane ended over it.
bool Engine::tell_of_ring(Lane& lane, wire::RingWord word,
                          std::span<const std::byte> payload) noexcept {
    return post_uncounted(lane, wire::FrameKind::ring, static_cast<uint64_t>(word), payload);
}

void Engine::open_ring(Lane& lane, const wire::RingOffer& offer) noexcept {
    const size_t bytes = offer.bytes();
    const std::byte* const seen = lane.qp().peer_memory(offer.end - bytes, offer.rkey, bytes);
    lane.ring_out().open(offer, seen ? seen + bytes : nullptr);
}

void Engine::on_ring_word(Lane& lane, const wire::Frame& frame) noexcept {
    switch (wire::RingWord{frame.header.tag}) {
    case wire::RingWord::offer:
        // What was written before speaks of the ring that we had before.
        if (lane.ring()) empty_ring(lane);
        return open_ring(lane, frame.offer());
    case wire::RingWord::recall:
        lane.ring_out().close();
        lane.set_leaves_ring(true);
        wait_for_end_of_batch(lane.peer());
        return;
    case wire::RingWord::leave:
        if (!lane.ring()) return;
        empty_ring(lane);
        stations_.rings().remove(lane);
        lane.set_ring(nullptr);
    }
}

// False while the lane has no room to say so.
bool Engine::leave_ring(Lane& lane) noexcept {
    if (!lane.has_place()) return false;
    lane.set_leaves_ring(false);
    tell_of_ring(lane, wire::RingWord::leave);
    return true;
}

} // namespace odrc::transfer
