// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"
#include "base/parameters.hpp"
#include "srq/ring.hpp"

#include <algorithm>
#include <array>

namespace odrc::ondemand {

class Lane;

// Who does not look for what comes, and so must be told, which what is in a ring tells nobody.
enum class Sleeper : uint8_t {
    nobody,
    watchdog, // looks when told to, and says when
    program,  // at any time
};

// The short frames of one lane since a moment, which is told by those of all lanes.
struct ShortFrames {
    uint32_t count{0};
    uint64_t since{0};
};

// The lanes whose peers write what is short into a ring (srq/ring.hpp). There are few of them, for
// whoever looks for what has come looks into each. A ring is for who sends most: after a good many
// short frames a peer has one, and once all are given away, who sends twice as many gets it from
// who sends the fewest.
class RingLanes {
public:
    static constexpr size_t kMost = 8;

    RingLanes(Counters& counters, Eager eager, srq::RingShare rings, Sleeper sleeper) noexcept
        : counters_{counters}
        , most_{sleeper == Sleeper::program || eager == Eager::srq ? 0
                                                                   : std::min(rings.count, kMost)}
        , bytes_{rings.bytes}
        , longest_{rings.longest}
        , kept_{eager != Eager::automatic}
        , earned_after_{most_ > 0 ? earned_after(eager) : UINT32_MAX}
        , gives_{sleeper == Sleeper::nobody} {}

    auto begin() const noexcept { return lanes_.begin(); }
    auto end() const noexcept { return begin() + count_; }
    bool empty() const noexcept { return count_ == 0; }
    size_t count() const noexcept { return count_; }
    bool full() const noexcept { return count_ == most_; }
    // Whether more are given away: not while the watchdog may sleep.
    bool gives() const noexcept { return gives_; }
    void set_gives(bool gives) noexcept { gives_ = gives; }
    // One of all may be the longest.
    size_t bytes_of_next() const noexcept;
    void add(Lane& lane) noexcept;
    void remove(Lane& lane) noexcept;

    // A short frame has come. True if it is time to think about a ring for its lane, which has
    // none.
    bool count(ShortFrames& of) noexcept {
        ++clock_;
        return ++of.count >= earned_after_;
    }
    void begin_anew(ShortFrames& of) const noexcept { of = {.count = 0, .since = clock_}; }
    // All rings are given away: the lane whose ring is to go to this one, or null.
    Lane* gives_way_to(const ShortFrames& of) noexcept;

private:
    static uint32_t earned_after(Eager eager) noexcept {
        return eager == Eager::automatic ? 64 : 1;
    }
    static constexpr uint64_t kLong = 8192; // frames, of which those of the first half count less

    uint64_t age_of(const ShortFrames& of) const noexcept { return clock_ - of.since; }

    Counters& counters_;
    const size_t most_;
    const size_t bytes_;
    const size_t longest_;
    const bool kept_;             // who has a ring keeps it
    const uint32_t earned_after_; // short frames
    bool gives_;
    std::array<Lane*, kMost> lanes_{};
    size_t count_{0};
    uint64_t clock_{0};
};

} // namespace odrc::ondemand
