// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace odrc::ondemand {

// How many requests of an endpoint wait for an answer at a time, and for how long before they are
// made again: as TCP has it with segments (RFC 5681, RFC 6298). A thousand endpoints that all
// connect to all, on one host, answer some thousand requests in a second: were each to ask a
// hundred at a time, again and again, most of what they answer would have been answered before,
// and who waits in the kernel's queue is given up before its turn.
class Pace {
public:
    static constexpr uint32_t kMost = 128;
    static constexpr uint32_t kLeast = 4;
    // A peer that is there answers at once, whatever its application does (its watchdog sees to
    // it).
    static constexpr auto kShortestWait = std::chrono::milliseconds{50};
    static constexpr auto kLongestWait = std::chrono::milliseconds{1000};

    uint32_t requests() const noexcept { return most_; }
    std::chrono::milliseconds wait() const noexcept { return wait_; }

    // A request was answered. again: it had been made more than once, so that it is not known
    // which of them was answered, and how quickly (Karn and Partridge, 1987).
    void answered(Time asked, Time now, bool again) noexcept {
        if (++answers_ >= most_) {
            answers_ = 0;
            most_ = std::min(most_ + 1, kMost);
        }
        if (again) return;
        using std::chrono::milliseconds;
        round_trip_ += (now - asked - round_trip_) / 8;
        wait_ = std::clamp(std::chrono::ceil<milliseconds>(4 * round_trip_), kShortestWait,
                           kLongestWait);
    }

    // There was no answer to one in time. Those that were under way when the last one was late say
    // nothing new.
    void late(Time asked, Time now) noexcept {
        if (asked < slowed_) return;
        slowed_ = now;
        answers_ = 0;
        most_ = std::max(most_ / 2, kLeast);
        wait_ = std::min(2 * wait_, kLongestWait);
    }

private:
    uint32_t most_{kMost};
    uint32_t answers_{0};           // since that has changed
    Clock::duration round_trip_{0}; // roughly
    std::chrono::milliseconds wait_{kShortestWait};
    Time slowed_{};
};

} // namespace odrc::ondemand
