// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/host.hpp"
#include "base/ticks.hpp"
#include "softrc/attempt.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>

namespace odrc::soft {

// Whether a peer's processor shares a cache with this one, as copies into memory of the peer's tell
// by the time that they take. Threads need not agree.
class Nearness {
public:
    static constexpr uint32_t kFewest = 8, kMost = 256; // copies until it is tried again

    // With fewer bytes in a nanosecond each line was fetched from a cache that this processor does
    // not share: that takes longer than to have the peer read all of it from memory.
    explicit Nearness(size_t least) noexcept
        : least_{least} {}

    // Asked for each copy that could go past the peer's caches.
    bool is_near() noexcept { return attempt_.is_worth_it(); }

    // Such a copy into them: copy() does it. That memory is used for the first time is slow as
    // well, and no sign: behind a slow copy it is counted how much of the next one is.
    template <class Copy>
    void watch(size_t length, Copy&& copy) noexcept {
        const bool in_doubt = in_doubt_.load(std::memory_order_relaxed);
        const uint64_t before = in_doubt ? page_faults() : 0;
        const Ticks begun = ticks_now();
        copy();
        const bool slow = is_slow(time_of(ticks_now() - begun), length);
        if (slow != in_doubt) in_doubt_.store(slow, std::memory_order_relaxed);
        if (!slow)
            attempt_.went_well();
        else if (in_doubt && (page_faults() - before) * kPage * 2 < length)
            attempt_.went_badly();
    }

    bool is_slow(std::chrono::nanoseconds time, size_t bytes) const noexcept {
        return static_cast<size_t>(time.count()) * least_ > bytes;
    }

private:
    static constexpr size_t kPage = 4096;

    const size_t least_;
    Attempt attempt_{kFewest, kMost};
    std::atomic<bool> in_doubt_{false}; // the last copy was slow
};

} // namespace odrc::soft
