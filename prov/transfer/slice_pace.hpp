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
// for a longer one. That memory is used for the first time is no sign of it, and comes to an end.
class SlicePace {
public:
    static constexpr uint32_t kFewest = 16, kMost = 256; // messages that are left out
    static constexpr size_t kPage = 4096;

    // Asked for each message that might.
    bool is_worth_it() noexcept {
        if (left_out_ == 0) return true;
        --left_out_;
        return false;
    }
    // What became of one.
    static bool is_slow(std::chrono::nanoseconds time, size_t bytes) noexcept {
        return static_cast<size_t>(time.count()) * kLeastBytes > bytes;
    }
    void was_quick() noexcept { next_ = kFewest; }
    // page_faults: of this thread, until now.
    void was_slow(size_t bytes, uint64_t page_faults) noexcept {
        const uint64_t fresh = page_faults - page_faults_;
        page_faults_ = page_faults;
        if (fresh * kPage * 2 >= bytes) return;
        left_out_ = next_;
        next_ = std::min(2 * next_, kMost);
    }

private:
    static constexpr size_t kLeastBytes = 4; // in a nanosecond

    uint32_t left_out_{0};
    uint32_t next_{kFewest};
    uint64_t page_faults_{0}; // when one was slow last
};

} // namespace odrc::transfer
