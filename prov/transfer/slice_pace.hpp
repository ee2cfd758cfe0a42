// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace odrc::transfer {

// Whether messages are to go in slices just now. These are copied into memory that the receiver's
// processor has read before: where that is near, at 10 GB/s and more, and where it is far, at less
// than half of what the kernel moves. Who finds them slow leaves them out for a while, each time
// for a longer one.
class SlicePace {
public:
    static constexpr uint32_t kFewest = 16, kMost = 256; // messages that are left out

    // Asked for each message that might.
    bool is_quick() noexcept {
        if (left_out_ == 0) return true;
        --left_out_;
        return false;
    }
    // One was sent so.
    void took(std::chrono::nanoseconds time, size_t bytes) noexcept {
        const bool slow = static_cast<size_t>(time.count()) * kLeastBytes > bytes;
        if (slow) left_out_ = next_;
        next_ = slow ? std::min(2 * next_, kMost) : kFewest;
    }

private:
    static constexpr size_t kLeastBytes = 4; // in a nanosecond

    uint32_t left_out_{0};
    uint32_t next_{kFewest};
};

} // namespace odrc::transfer
