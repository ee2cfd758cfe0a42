// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/ticks.hpp"

#include <algorithm>
#include <cstdlib>

namespace odrc::host {

// When something was sent, by its sender's ticks, 1024 of them at a time: nobody else reads it.
using Stamp = uint32_t;

constexpr Stamp stamp_of(Ticks time) noexcept { return static_cast<Stamp>(time >> 10); }
constexpr Ticks time_since(Stamp stamp, Ticks now) noexcept {
    return Ticks{stamp_of(now) - stamp} << 10;
}

// How long to wait for an acknowledgement: by measured round trips, and twice as long each time
// that none comes (RFC 6298).
class RoundTrip {
public:
    // A peer whose turn on its processor it is not answers some milliseconds later.
    static constexpr std::chrono::milliseconds kShortest{2};
    static constexpr std::chrono::milliseconds kLongest{256};
    // Until one is measured: the other side may have to make its connection first.
    static constexpr std::chrono::milliseconds kUnmeasured{16};

    void measured(Ticks trip) noexcept {
        const auto t = static_cast<int32_t>(std::clamp<Ticks>(trip, 1, kMost));
        if (smooth_ == 0) {
            smooth_ = t;
            varies_ = t / 2;
        } else {
            varies_ += (std::abs(t - smooth_) - varies_) / 4;
            smooth_ += (t - smooth_) / 8;
        }
    }
    void heard() noexcept { doubled_ = 0; }
    void silent() noexcept { ++doubled_; }
    uint8_t silences() const noexcept { return doubled_; } // in a row

    Ticks patience() const noexcept {
        static const Ticks shortest = ticks_of(kShortest), longest = ticks_of(kLongest),
                           unmeasured = ticks_of(kUnmeasured);
        const Ticks once = smooth_ == 0
                               ? unmeasured
                               : std::max(smooth_ + 4 * static_cast<Ticks>(varies_), shortest);
        return std::min(once << std::min<uint8_t>(doubled_, 16), longest);
    }

private:
    // Half of what they could hold, so that no sum of both is too much.
    static constexpr int32_t kMost = INT32_MAX / 2;

    int32_t smooth_{0};
    int32_t varies_{0};
    uint8_t doubled_{0};
};

} // namespace odrc::host
