// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "softrc/arena_view.hpp"
#include "softrc/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace odrc::soft {

// Whether a peer is asked to do its part of something. Where processes share processors, it may
// lose its own in the middle, or does not poll, and all wait for it: who has been waited for is not
// asked for a while, each time a longer one if it comes to that more than once in thirty times.
// Threads need not agree.
class Asking {
public:
    // Times that it is left out.
    Asking(uint32_t least, uint32_t most) noexcept
        : least_{least}
        , most_{most}
        , next_{least} {}

    bool is_worth_it() noexcept {
        const uint32_t left = left_out_.load(std::memory_order_relaxed);
        if (left > 0) left_out_.store(left - 1, std::memory_order_relaxed);
        return left == 0;
    }
    void was_in_time() noexcept {
        const uint32_t next = next_.load(std::memory_order_relaxed);
        if (next > least_)
            next_.store(std::max(least_, next - 1 - next / 32), std::memory_order_relaxed);
    }
    void was_late() noexcept {
        const uint32_t next = next_.load(std::memory_order_relaxed);
        left_out_.store(next, std::memory_order_relaxed);
        next_.store(std::min(2 * next, most_), std::memory_order_relaxed);
    }

private:
    const uint32_t least_, most_;
    std::atomic<uint32_t> left_out_{0}; // times
    std::atomic<uint32_t> next_;        // after the next time
};

// A process that this one's queue pairs are connected to: perhaps this one itself.
class PeerProcess {
public:
    // Check ok(): false when the process is gone or will not let us in.
    PeerProcess(pid_t pid, int arena_fd) noexcept;
    // This process itself.
    explicit PeerProcess(std::byte* own_arena) noexcept;
    PeerProcess(const PeerProcess&) = delete;
    PeerProcess& operator=(const PeerProcess&) = delete;

    bool ok() const noexcept { return static_cast<bool>(arena_); }
    bool own() const noexcept { return !map_; }
    pid_t pid() const noexcept { return pid_; }
    int pidfd() const noexcept { return pidfd_.get(); }
    const ArenaView& arena() const noexcept { return arena_; }
    // The kernel lets this process move the other's private memory.
    bool lets_us_in() const noexcept { return lets_us_in_; }

    // Known to have died. Learned from the agent, or at the latest by asking.
    bool dead() const noexcept { return dead_.load(std::memory_order_relaxed); }
    bool check_dead() noexcept;
    // Whether the pid may belong to another process by now. Asks once in a tick of the kernel's
    // clock, a few milliseconds, in which pids do not go all the way round.
    bool lost_pid() noexcept;

    Asking& joining() noexcept { return joining_; } // copies: joint_copy.hpp
    Asking& coming() noexcept { return coming_; }
    Asking& serving() noexcept { return serving_; } // atomic operations: served_atomic.hpp

    // Writes an event into a pipe of the process's.
    void raise_event(const EventPipe& pipe, uint64_t event) noexcept;

private:
    pid_t pid_;
    Fd pidfd_;
    Mapping map_;
    ArenaView arena_;
    bool lets_us_in_{true};
    std::atomic<bool> dead_{false};
    std::atomic<int64_t> asked_{0}; // the tick
    Asking joining_{16, 4096};      // who is late holds up a copy by milliseconds
    Asking coming_{1, 16};          // and who does not come by a call of the kernel
    Asking serving_{1, 64};         // what nobody does is taken back
    std::mutex mutex_;
    std::map<uint64_t, Fd> pipes_; // by inode
};

} // namespace odrc::soft
