// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <cstdint>

namespace odrc {

// How often this process had to leave a processor to another one while it was not waiting
// (getrusage(2), ru_nivcsw). That it has yielded to one counts as well.
uint64_t switches_to_others() noexcept;

// Whether others want the processor of who looks for something again and again, where no launcher
// has said so. They get it when its time is over, milliseconds later; that has happened, then, and
// whoever yields from there on lets them have it at once, among them who has what is looked for.
// For any number of threads.
class Crowd {
public:
    using Switches = uint64_t() noexcept;
    explicit Crowd(Switches* switches = switches_to_others) noexcept
        : switches_{switches}
        , known_{switches()} {}

    // A look was in vain. True while it is better to yield before the next one.
    bool is_felt() noexcept {
        const int left = left_.load(std::memory_order_relaxed) - 1;
        left_.store(left, std::memory_order_relaxed);
        if (left <= 0) [[unlikely]]
            ask();
        return felt_.load(std::memory_order_relaxed);
    }
    // One was not: who finds something time and again does not ask the kernel anything.
    void found() noexcept {
        if (!felt_.load(std::memory_order_relaxed)) left_.store(kAlone, std::memory_order_relaxed);
    }

private:
    // Looks in vain until the kernel is asked again: many of them in a row take longer than a
    // system call is worth, and each that yields takes one anyway.
    static constexpr int kAlone = 1024, kCrowded = 64;
    static constexpr uint64_t kMany = 8; // of those yields went to others: nobody's chance visit

    void ask() noexcept;

    Switches* const switches_;
    std::atomic<uint64_t> known_; // switches
    std::atomic<int> left_{kAlone};
    std::atomic<bool> felt_{false};
};

} // namespace odrc
