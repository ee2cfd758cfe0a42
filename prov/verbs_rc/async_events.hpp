// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/watchdog.hpp"
#include "verbs_rc/device.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace odrc::verbs {

// What an opened device tells without being asked (ibv_get_async_event(3)): that a shared receive
// queue has fewer receives than its limit. The rest goes to the log.
class AsyncEvents final : public Watchdog::Client {
public:
    // Throws Error.
    AsyncEvents(Context& context, Watchdog& watchdog);
    ~AsyncEvents();

    // Sets the flag whenever the queue has reached its limit, and has all clients of the watchdog
    // served. Throws std::bad_alloc.
    void watch(const ibv_srq& srq, std::atomic<bool>& reached);
    // Before the queue goes.
    void watch_no_more(const ibv_srq& srq) noexcept;

    Time serve() noexcept override;

private:
    struct Watched {
        const ibv_srq* srq;
        std::atomic<bool>* reached;
    };
    void take(const ibv_async_event& event) noexcept;

    Context& context_;
    Watchdog& watchdog_;
    std::mutex mutex_; // guards what is watched, and that it stands while an event is taken
    std::vector<Watched> watched_;
};

} // namespace odrc::verbs
