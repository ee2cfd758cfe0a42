// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"
#include "base/gate.hpp"
#include "base/watchdog.hpp"
#include "transfer/patience.hpp"

#include <atomic>
#include <optional>

namespace odrc::transfer {

class Engine;

// Makes an endpoint's progress while its program does not (FI_PROGRESS_AUTO): the watchdog sleeps
// on the completion channel. Whether the program makes it itself, Patience judges by its polls.
class AutoProgress final : public Watchdog::Client {
public:
    // The engine's channel is readable when there may be progress to make. Throws Error. Made and
    // ended outside the gate.
    AutoProgress(Engine& engine, Counters& counters, Watchdog& watchdog, Gate& gate);
    ~AutoProgress();

    // The program has looked itself. Inside the gate.
    void program_polled(bool found) noexcept {
        polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (!found) return;
        found_.store(found_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        sleeps_.store(false, std::memory_order_relaxed);
    }
    // It may go to sleep where the channel wakes it. Inside the gate.
    void program_sleeps() noexcept { sleeps_.store(true, std::memory_order_relaxed); }

    Time serve() noexcept override;

private:
    bool begin() noexcept;
    void let_have_rings() noexcept;
    Clock::duration until_rings_are_back() noexcept;

    Engine& engine_;
    Counters& counters_;
    Watchdog& watchdog_;
    Gate& gate_;
    std::atomic<uint32_t> polls_{0};
    std::atomic<uint32_t> found_{0};
    std::atomic<bool> sleeps_{false};
    std::optional<Patience> patience_; // the watchdog's own, as are the next two
    bool rings_given_{false};
    int rings_asked_{0}; // looks, one behind the other, while some were not back
};

} // namespace odrc::transfer
