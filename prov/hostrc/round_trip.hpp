// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/ticks.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace odrc::host {

// How long to wait for an acknowledgement: by measured round trips, and twice as long each time
// that none comes (RFC 6298). Where what went again has come twice, the other side only was busy:
// the shortest patience doubles, until repeats turn out to have been needed.
class RoundTrip {
public:
    // A peer whose turn on its processor it is not answers some milliseconds later.
    static constexpr std::chrono::milliseconds kShortest{2};
    static constexpr std::chrono::milliseconds kLongest{256};

    static constexpr uint8_t kMostLonger = 4;

    void measured(Ticks trip) noexcept {
        const auto t = static_cast<int32_t>(std::min<Ticks>(trip, kMost));
        if (smooth_ == 0) {
            smooth_ = t;
            varies_ = t / 2;
        } else {
            varies_ += (std::abs(t - smooth_) - varies_) / 4;
            smooth_ += (t - smooth_) / 8;
        }
    }
    void heard() noexcept { doubled_ = 0; }
    void silent() noexcept {
        ++doubled_;
        judged_ = false;
    }
    void judge(bool needed) noexcept {
        if (std::exchange(judged_, true)) return;
        if (!needed)
            longer_ = std::min<uint8_t>(longer_ + 1, kMostLonger);
        else if (longer_ > 0)
            --longer_;
    }
    uint8_t silences() const noexcept { return doubled_; } // in a row

    Ticks patience() const noexcept {
        static const Ticks shortest = ticks_of(kShortest), longest = ticks_of(kLongest);
        const Ticks once =
            std::max(static_cast<Ticks>(smooth_ + int64_t{4} * varies_), shortest << longer_);
        return std::min(once << std::min<uint8_t>(doubled_, 16), longest);
    }

private:
    // Half of what they could hold, so that no sum of both is too much.
    static constexpr int32_t kMost = INT32_MAX / 2;

    int32_t smooth_{0};
    int32_t varies_{0};
    uint8_t doubled_{0};
    uint8_t longer_{0};
    bool judged_{true}; // it is known whether the last silence was a loss
};

} // namespace odrc::host
