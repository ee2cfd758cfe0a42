// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace odrc {

// How often this process had to leave a processor to another one while it was not waiting
// (getrusage(2), ru_nivcsw). That it has yielded to one counts as well.
uint64_t switches_to_others() noexcept;
// How long the processor was away.
std::chrono::nanoseconds yield_to_others() noexcept;

// Whether others want the processor of who looks for something again and again, where no launcher
// has said so. They get it when its time is over, milliseconds later; that has happened, then, and
// whoever yields from there on lets them have it at once, among them who has what is looked for.
// One who keeps it has nothing for us, but something of its own to do: it is not yielded to, and
// the less often the more often it is met. For any number of threads.
class Crowd {
public:
    using Switches = uint64_t() noexcept;
    using Yield = std::chrono::nanoseconds() noexcept;
    explicit Crowd(Switches* switches = switches_to_others, Yield* yield = yield_to_others) noexcept
        : switches_{switches}
        , yield_{yield}
        , known_{switches()} {}

    // A look was in vain: yields, if others are felt.
    void in_vain() noexcept {
        const int left = left_.load(std::memory_order_relaxed) - 1;
        left_.store(left, std::memory_order_relaxed);
        if (left <= 0 || felt_.load(std::memory_order_relaxed)) [[unlikely]]
            think(left <= 0);
    }
    // One was not: who finds something time and again does not ask the kernel anything.
    void found() noexcept {
        if (!felt_.load(std::memory_order_relaxed))
            left_.store(alone_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }

private:
    // Looks in vain until the kernel is asked again: many of them in a row take longer than a
    // system call is worth, and each that yields takes one anyway.
    static constexpr int kAlone = 1024, kMostAlone = kAlone << 10, kCrowded = 64;
    static constexpr uint64_t kMany = 8; // of those yields went to others: nobody's chance visit
    // Of those who look for something themselves each is through sooner.
    static constexpr std::chrono::milliseconds kKept{1};

    void think(bool ask) noexcept;
    void feel(bool others, int alone) noexcept;

    Switches* const switches_;
    Yield* const yield_;
    std::atomic<uint64_t> known_; // switches
    std::atomic<int> left_{kAlone}, alone_{kAlone};
    std::atomic<bool> felt_{false};
};

} // namespace odrc
