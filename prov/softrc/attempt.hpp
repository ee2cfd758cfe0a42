// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace odrc::soft {

// Whether something that a peer has to do its part of, or to be right for, is attempted with it.
// What went badly is left out for a while, each time a longer one if it comes to that more than
// once in thirty times. Threads need not agree.
class Attempt {
public:
    // Times that it is left out.
    Attempt(uint32_t least, uint32_t most) noexcept
        : least_{least}
        , most_{most}
        , next_{least} {}

    // Asked each time.
    bool is_worth_it() noexcept {
        const uint32_t left = left_out_.load(std::memory_order_relaxed);
        if (left > 0) left_out_.store(left - 1, std::memory_order_relaxed);
        return left == 0;
    }
    void went_well() noexcept {
        const uint32_t next = next_.load(std::memory_order_relaxed);
        if (next > least_)
            next_.store(std::max(least_, next - 1 - next / 32), std::memory_order_relaxed);
    }
    void went_badly() noexcept {
        const uint32_t next = next_.load(std::memory_order_relaxed);
        left_out_.store(next, std::memory_order_relaxed);
        next_.store(std::min(2 * next, most_), std::memory_order_relaxed);
    }

private:
    const uint32_t least_, most_;
    std::atomic<uint32_t> left_out_{0}; // times
    std::atomic<uint32_t> next_;        // after the next time
};

} // namespace odrc::soft
