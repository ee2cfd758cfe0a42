// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/gate.hpp"
#include "base/watchdog.hpp"

#include <atomic>

namespace odrc::transfer {

class Engine;

// Makes an endpoint's progress while its program does not (FI_PROGRESS_AUTO): the watchdog sleeps
// on the completion channel. A program that polls is better left alone: while it does, the channel
// is not armed, and the watchdog comes by now and then to see whether it still does.
class AutoProgress final : public Watchdog::Client {
public:
    // The engine's channel is readable when there may be progress to make. Throws Error. Made and
    // ended outside the gate.
    AutoProgress(Engine& engine, Watchdog& watchdog, Gate& gate);
    ~AutoProgress();

    // The program makes progress itself. Inside the gate.
    void program_polls() noexcept {
        polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    Time serve() noexcept override;

private:
    Engine& engine_;
    Watchdog& watchdog_;
    Gate& gate_;
    std::atomic<uint32_t> polls_{0};
    // The watchdog's own:
    uint32_t polls_seen_{0};
    bool left_alone_{false}; // the program has had time to make progress itself
};

} // namespace odrc::transfer
