// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/staging.hpp"

#include <chrono>
#include <deque>

namespace odrc::mpi {

class Transfer;

// Staging memory, which messages get in the order in which they have asked for it. Who holds some
// of it waits for nobody who waits for that of the other side.
class StagingQueue {
public:
    explicit StagingQueue(Fabric& fabric) noexcept
        : staging_{fabric} {}

    bool open() noexcept { return staging_.open(); }
    // None: it is not this one's turn, or there is not enough. It is woken when there may be.
    Staging::Stretch take(size_t bytes, Transfer& who);
    void give_back(Staging::Stretch& stretch) noexcept;
    void wait_no_more(const Transfer& who) noexcept;
    // Part of the process's progress.
    void look_after_waiting() noexcept {
        if (!waiting_.empty()) look();
    }

private:
    using Clock = std::chrono::steady_clock;

    void wake_first() noexcept;
    void look() noexcept;

    Staging staging_;
    std::deque<Transfer*> waiting_;
    Clock::time_point since_; // they wait, or some was given back
    int looks_{0};
};

} // namespace odrc::mpi
