// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Frames that come in, by receives and by rings (rings.cpp), until it is their turn (arrival.cpp).

#include "base/log.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {
namespace {

constexpr int kBatch = 16; // frames taken from a ring at a time

// What is in the rings goes first, so many times in a row.
constexpr uint32_t kTurns = 16;

// So many looks into rings, about, go with one that was in vain; and when an answer may be due, for
// longer than the next call takes to come: two that answer each other keep in step, and what comes
// between two calls once does so each time.
constexpr size_t kLooks = 4, kLooksForAnswer = 32;

// So many of them the processor may begin before the first is over: when it begins all, they gain a
// quarter of that (bench/figures/one_host.md).
constexpr size_t kLooksAhead = 4;

} // namespace

// ---- what a frame says besides (windows.cpp) ----------------------------------------------------

// What came over a lane that broke speaks of its rings as well.
[[gnu::always_inline]] inline void Engine::on_limit(const Lane& lane,
                                                    const wire::Frame& frame) noexcept {
    Peer& peer = lane.peer();
    if (!peer.in_session(lane.session()) || lane.awaited()) return;
    peer.has_little_room = (frame.header.flags & wire::kCrowded) != 0;
    if (peer.window_out.open_to(frame.header.limit) && peer.stopped) [[unlikely]]
        wait_for_end_of_batch(peer);
}

// A frame has come, the next one of its session.
[[gnu::always_inline]] inline void Engine::take_window(Lane& lane,
                                                       const wire::Frame& frame) noexcept {
    Peer& peer = lane.peer();
    if (!peer.in_session(lane.session())) return;
    on_limit(lane, frame);
    if (!owes_window(peer)) [[likely]]
        return;
    if (peer.window_in.is_overdue(peer.received_in_window()) && grant(peer)) return;
    wait_for_end_of_batch(peer); // something may go to it meanwhile
}

void Engine::on_uncounted(Lane& lane, const wire::Frame& frame) noexcept {
    on_limit(lane, frame);
    if (frame.header.kind == wire::FrameKind::ring) return on_ring_word(lane, frame);
    lane.ring_out().freed(static_cast<uint16_t>(frame.header.tag));
}

// ---- frames -------------------------------------------------------------------------------------

// Takes in what has come, if it is its turn, and says whether it is.
[[gnu::always_inline]] inline ondemand::Turn
Engine::take_frame(Lane& lane, const wire::Frame& frame, bool by_ring) noexcept {
    using ondemand::Turn;
    lane.visit();
    const Turn turn = lane.peer().take_frame(lane.session(), frame.header.sequence);
    if (by_ring && turn != Turn::early) ++lane.peer().received_by_ring;
    if (turn == Turn::next) [[likely]] {
        by_ring ? on_limit(lane, frame) : take_window(lane, frame); // rings have no part in windows
        on_frame(lane, frame);
    } else if (turn == Turn::repeated)
        ++counters_.repeats_dropped;
    return turn;
}

// A frame has come in a receive. True if it is kept there, until it is its turn.
bool Engine::on_received(Lane& lane, srq::Buffer& buffer, uint32_t length) noexcept {
    wireup_.heard_from(lane);
    const std::span<const std::byte> bytes{buffer.data, length};
    wire::Frame frame;
    if (!wire::read_frame(bytes, frame)) {
        refuse(lane, bytes);
        return false;
    }
    if (!frame.is_counted()) [[unlikely]] {
        lane.visit();
        on_uncounted(lane, frame);
        return false;
    }
    lane.station().shares().count(lane.peer().heard_in);
    auto turn = take_frame(lane, frame, false);
    if (turn == ondemand::Turn::early && lane.ring()) {
        empty_ring(lane); // of what was sent before
        turn = take_frame(lane, frame, false);
    }
    if (turn == ondemand::Turn::early) [[unlikely]] {
        // What goes before it came over the peer's other lane, or the one that it had.
        if (lane.peer().lanes > 1) {
            buffer.length = length;
            lane.keep_early(buffer);
            return true;
        }
        refuse(lane, bytes);
        return false;
    }
    if (lane.peer().early > 0) [[unlikely]] {
        take_early(lane.peer());
        wireup_.lay_to_rest(lane.peer());
    }
    if (turn == ondemand::Turn::next && bytes.size() <= lane.most_in_record() &&
        stations_.rings().count(lane.short_frames())) [[unlikely]]
        think_about_ring(lane);
    return false;
}

// Takes in what came over one of the peer's lanes before it was its turn, if it is now.
void Engine::take_early(Peer& peer) noexcept {
    srq::Buffer* const hand = in_hand_;
    ondemand::Station* const at = in_hand_at_;
    const auto take_first = [&](Lane& lane) {
        srq::Buffer* buffer = lane.early();
        in_hand_at_ = &lane.station();
        in_hand_ = in_hand_at_->srq() ? buffer : nullptr;
        wire::Frame frame;
        wire::read_frame({buffer->data, buffer->length}, frame); // as it did when it came
        if (take_frame(lane, frame, false) == ondemand::Turn::early) return false;
        lane.forget_early();
        if (in_hand_)
            in_hand_at_->take_back(buffer);
        else if (!in_hand_at_->srq() && !lane.failed()) // else it goes with the lane
            lane.give_back(buffer);
        return true;
    };
    for (bool again = true; again;) {
        again = false;
        wireup_.for_each_lane(peer, [&](Lane& lane) {
            while (lane.early() && take_first(lane)) again = true;
        });
    }
    in_hand_ = hand;
    in_hand_at_ = at;
}

void Engine::refuse(Lane& lane, std::span<const std::byte> bytes) noexcept {
    ODRC_WARN(FI_LOG_EP_DATA, "{}: {} sent {} bytes that are no frame, or not the next one",
              adapter_.port().name(), lane.peer().address.text(), bytes.size());
    if (!lane.failed()) wireup_.drop(lane.peer(), FI_EIO);
}

// Takes the frames whose turn it is, the first of which ends there. False if there is none. As long
// as each look finds something there may be more behind it; what is alone is handed out at once.
bool Engine::take_from_ring(Lane& lane, const uint64_t* found) noexcept {
    srq::Ring& ring = *lane.ring();
    const int most = ring_polls_ > 0 ? kBatch : 1;
    int left = most;
    for (srq::RecordEnd end = ring.open(found); end.length > 0; end = ring.look()) {
        const auto bytes = ring.frame(end);
        ring.fetch(bytes);
        wire::Frame frame;
        const bool whole = end.length & srq::kHeaderBehind
                               ? wire::read_message(ring.header_behind(), bytes, frame)
                               : wire::read_frame(bytes, frame);
        if (!whole || !frame.is_counted()) { // of rings is said in sends
            refuse(lane, bytes);
            break;
        }
        if (take_frame(lane, frame, true) == ondemand::Turn::early) break;
        lane.ring_out().freed(end.freed);
        stations_.rings().count(lane.short_frames());
        ring.pop(end);
        if (--left == 0) break;
    }
    if (left == most) return false;
    if (lane.peer().early > 0) [[unlikely]]
        take_early(lane.peer());
    if (ring.is_due() && lane.peer().ready()) wait_for_end_of_batch(lane.peer());
    return true;
}

// Something has come by rings. False when it is time to look elsewhere, too.
bool Engine::found_in_rings() noexcept {
    if (!blocked_.empty()) [[unlikely]]
        unblock();
    patience_ = kHearing;
    if (++ring_polls_ < kTurns) return true;
    ring_polls_ = 0;
    return false;
}

// Takes in what has come by rings, some of each. False when there was nothing, or when it is time
// to look elsewhere.
bool Engine::poll_rings() noexcept {
    bool found = false;
    for (Lane* lane : stations_.rings())
        if (const uint64_t* next = lane->ring()->find_next())
            found = take_from_ring(*lane, next) || found;
    if (found) return found_in_rings();
    ring_polls_ = 0;
    return false;
}

// How often to look once more, of which a look in vain is to tell: it depends on who has had the
// last word. Who has heard something may well ask once more before answering it, and who only
// sends does not wait.
size_t Engine::more_looks() noexcept {
    if (patience_ > 0) {
        --patience_;
        return kLooksForAnswer;
    }
    if (patience_ != kHearing) return kLooks;
    patience_ = kHeard;
    return 0;
}

// There was nothing anywhere. Whoever waits asks again and again, and what comes between two looks
// into its ring lies there until the next: so there are some more before the answer is no.
bool Engine::linger() noexcept {
    const ondemand::RingLanes& rings = stations_.rings();
    if (rings.empty()) return false;
    const size_t looks = more_looks();
    for (size_t look = 0; look * rings.count() < looks; ++look) {
        if (look > 0 && look % kLooksAhead == 0) __builtin_ia32_lfence();
        for (Lane* lane : rings) {
            if (const uint64_t* next = lane->ring()->find_next())
                return take_from_ring(*lane, next) && found_in_rings();
            lane->ring()->fetch_next();
        }
    }
    return false;
}

void Engine::empty_ring(Lane& lane) noexcept {
    for (const uint64_t* next; (next = lane.ring()->find_next()) && take_from_ring(lane, next);) {
    }
}

} // namespace odrc::transfer
