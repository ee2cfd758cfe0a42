// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <sched.h>

namespace odrc {

// For sections of a few dozen instructions. Yields: the holder may be waiting for this processor.
class SpinLock {
public:
    void lock() noexcept {
        if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            wait();
    }
    bool try_lock() noexcept {
        return !taken_.load(std::memory_order_relaxed) &&
               !taken_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
    [[gnu::noinline]] void wait() noexcept {
        do {
            for (int i = 0; i < 64 && taken_.load(std::memory_order_relaxed); ++i)
                __builtin_ia32_pause();
            if (taken_.load(std::memory_order_relaxed)) sched_yield();
        } while (taken_.exchange(true, std::memory_order_acquire));
    }

    std::atomic<bool> taken_{false};
};

// A lock that is only there where several threads come: one branch otherwise.
class OptionalLock {
public:
    explicit OptionalLock(bool needed) noexcept
        : needed_{needed} {}
    void lock() noexcept {
        if (needed_) lock_.lock();
    }
    void unlock() noexcept {
        if (needed_) lock_.unlock();
    }

private:
    const bool needed_;
    SpinLock lock_;
};

} // namespace odrc
