// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "softrc/pipe.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace odrc::soft {

class Process;

// The device's one thread in a process, asleep unless a peer dies, or puts a queue pair into the
// error state, or a work request waits while nobody polls.
class Agent {
public:
    explicit Agent(Process& process); // throws Error
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // Tells the process when the peer behind this pidfd dies. Closing the descriptor ends it.
    void watch(int pidfd) noexcept;

    // What it is woken for, besides queue pairs that were put in error.
    enum class Task : uint32_t {
        none,
        stalled,  // work requests wait
        visitors, // one of them may have died
        errands,  // a sender has posted one
    };
    static uint64_t event(Task task) noexcept;
    void wake(Task task) noexcept;

private:
    void run() noexcept;
    void read_pipe() noexcept;

    Process& process_;
    Fd epoll_;
    Pipe pipe_; // into which this process and its peers write AsyncEvents
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace odrc::soft
