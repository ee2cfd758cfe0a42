// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Messages that are alike, and a clock of their own.

#include "schemes/experience.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace alike {

using namespace odrc::mpi;

inline constexpr MessageKind::Side kSide{.piece = 9, .median = 9, .extent = 22};
inline constexpr MessageKind kKind{.bytes = 20, .out = kSide, .in = kSide};
inline constexpr uint64_t kBytes = 1 << 20;
inline constexpr size_t kMany = 200;

inline double now = 0;   // nanoseconds
inline size_t looks = 0; // at it
inline double clock() noexcept {
    ++looks;
    return now;
}

// Bursts of messages of which each takes what is said, in nanoseconds, one after the other.
class Messages {
public:
    explicit Messages(const Expected& expected, Experience::Of of = Experience::Of::all,
                      double spared = 0)
        : expected_{expected}
        , spared_{spared}
        , experience_{of, clock} {}

    // How many bursts went with each.
    std::array<size_t, kSchemes> go(size_t bursts, const Expected& take, size_t of = 1) {
        std::array<size_t, kSchemes> went{};
        for (size_t i = 0; i < bursts; ++i) ++went[static_cast<size_t>(go(take, of))];
        return went;
    }
    // From now on a peer of those that go that way is trying something.
    void put_off(std::optional<Scheme> way) { put_off_ = way; }
    Experience& experience() { return experience_; }

private:
    Scheme go(const Expected& take, size_t messages) {
        std::vector<Experience::Begun> burst;
        for (size_t i = 0; i < messages; ++i) {
            Expected expected = expected_;
            burst.push_back(experience_.begin(kKind, kBytes, expected, {}, spared_));
            CHECK(burst.back().way == burst.front().way);
        }
        if (burst.front().way == put_off_) experience_.put_off(kKind);
        for (const auto& message : burst) {
            now += take[static_cast<size_t>(message.way)];
            if (message.ticket) experience_.end(*message.ticket, kBytes);
        }
        return burst.front().way;
    }

    const Expected expected_;
    const double spared_;
    Experience experience_;
    std::optional<Scheme> put_off_;
};

} // namespace alike
