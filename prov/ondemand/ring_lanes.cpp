// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/ring_lanes.hpp"

#include "ondemand/lane.hpp"

namespace odrc::ondemand {

size_t RingLanes::bytes_of_next() const noexcept {
    const bool taken = std::any_of(begin(), end(), [this](const Lane* lane) {
        return lane->ring() && lane->ring()->bytes() > bytes_;
    });
    return taken ? bytes_ : longest_;
}

void RingLanes::add(Lane& lane) noexcept {
    lanes_[count_++] = &lane;
    counters_.ring_peers = std::max<uint64_t>(counters_.ring_peers, count_);
    begin_anew(lane.short_frames());
}

void RingLanes::remove(Lane& lane) noexcept {
    const auto there = std::find(begin(), end(), &lane);
    if (there == end()) return;
    lanes_[static_cast<size_t>(there - begin())] = lanes_[--count_];
    begin_anew(lane.short_frames());
}

// Who has had a ring for less time than the other took to earn one has not been seen long enough.
Lane* RingLanes::gives_way_to(const ShortFrames& of) noexcept {
    if (kept_) return nullptr;
    const uint64_t age = age_of(of);
    Lane* least = nullptr;
    uint64_t fewest = of.count; // in as much time
    for (size_t i = 0; i < count_; ++i) {
        ShortFrames& held = lanes_[i]->short_frames();
        // One is about to come back.
        if (lanes_[i]->ring_is_recalled() || lanes_[i]->failed()) return nullptr;
        if (age_of(held) < age) continue;
        const uint64_t twice = 2 * held.count * age / age_of(held);
        if (twice < fewest) {
            fewest = twice;
            least = lanes_[i];
        }
        if (age_of(held) >= kLong) {
            held.count /= 2;
            held.since += age_of(held) / 2;
        }
    }
    return least;
}

} // namespace odrc::ondemand
