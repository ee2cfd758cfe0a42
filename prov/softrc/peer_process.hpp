// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "softrc/arena_view.hpp"
#include "softrc/attempt.hpp"
#include "softrc/nearness.hpp"
#include "softrc/shared_memory.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace odrc::soft {

// A process that this one's queue pairs are connected to: perhaps this one itself.
class PeerProcess {
public:
    // Check ok(): false, and errno, when the process is gone, will not let us in, or there is no
    // descriptor or address space left.
    PeerProcess(pid_t pid, int arena_fd) noexcept;
    // This process itself.
    explicit PeerProcess(const ArenaView& own_arena) noexcept;
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

    // Where processes share processors it may lose its own in the middle, or does not poll, and all
    // wait for it.
    Attempt& joining() noexcept { return joining_; } // copies: joint_copy.hpp
    Attempt& coming() noexcept { return coming_; }
    Attempt& serving() noexcept { return serving_; } // atomic operations: served_atomic.hpp
    // copy_to_peer.hpp: when it receives, and when its memory is written to.
    Nearness& nearness_of_receives() noexcept { return receives_; }
    Nearness& nearness_of_writes() noexcept { return writes_; }
    // Asked for each message to the peer, and each long copy: it may go where this process has not
    // been.
    bool may_have_new_pages() noexcept {
        const uint32_t left = firsts_.load(std::memory_order_relaxed);
        if (left > 0) firsts_.store(left - 1, std::memory_order_relaxed);
        return left > 0;
    }

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
    Attempt joining_{16, 4096};     // who is late holds up a copy by milliseconds
    Attempt coming_{1, 16};         // and who does not come by a call of the kernel
    Attempt serving_{1, 64};        // what nobody does is taken back
    // Receives are few and soon filled again, out of the nearest caches of a peer that is near.
    // That takes twice as long as where its last cache has the lines, as it has of what is written.
    Nearness receives_{5}, writes_{12};
    std::atomic<uint32_t> firsts_{1024}; // of these: in so many all receives are met
    std::mutex mutex_;
    std::map<uint64_t, Fd> pipes_; // by inode
};

} // namespace odrc::soft
