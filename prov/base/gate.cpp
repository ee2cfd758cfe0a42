// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/gate.hpp"

#include "base/clock.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace odrc {
namespace {

bool membarrier_works() noexcept {
#ifdef ODRC_THREAD_SANITIZER
    return false; // the sanitizer cannot see a barrier that the kernel runs
#else
    static const bool works =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    return works;
#endif
}

} // namespace

Gate::Gate(Kind kind) noexcept
    : locked_{kind == Kind::many_threads || !membarrier_works()} {}

void Gate::stand_aside() noexcept {
    do {
        inside_.store(0, std::memory_order_release);
        { std::lock_guard wait{mutex_}; }
        inside_.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } while (wanted_.load(std::memory_order_acquire));
}

void Gate::keep_out() noexcept {
    wanted_.store(1, std::memory_order_relaxed);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

// Most calls are over by then. In others it is the kernel that works, on the same processor, and
// whoever yields for long takes half of it.
bool Gate::is_left_soon() const noexcept {
    constexpr auto kSoon = std::chrono::microseconds{20};
    for (const Time until = Clock::now() + kSoon; inside_.load(std::memory_order_acquire);) {
        if (Clock::now() >= until) return false;
        sched_yield();
    }
    return true;
}

void Gate::enter_as_watchdog() noexcept {
    constexpr auto kNap = std::chrono::microseconds{50};
    mutex_.lock();
    if (locked_) return;
    keep_out();
    while (!is_left_soon()) std::this_thread::sleep_for(kNap);
}

bool Gate::try_enter_as_watchdog() noexcept {
    mutex_.lock();
    if (locked_) return true;
    keep_out();
    if (is_left_soon()) return true;
    leave_as_watchdog();
    return false;
}

void Gate::leave_as_watchdog() noexcept {
    if (!locked_) wanted_.store(0, std::memory_order_release);
    mutex_.unlock();
}

} // namespace odrc
