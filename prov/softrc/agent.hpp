// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"

#include <atomic>
#include <thread>

namespace odrc::soft {

class Process;

// The device's one thread in a process, asleep unless a peer dies or a work request waits while
// nobody polls.
class Agent {
public:
    explicit Agent(Process& process); // throws Error
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // Tells the process when the peer behind this pidfd dies. Closing the descriptor ends it.
    void watch(int pidfd) noexcept;

    // A work request waits.
    void wake() noexcept;

private:
    void run() noexcept;

    Process& process_;
    Fd epoll_;
    Fd wakeup_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace odrc::soft
