// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Events of a context and of completion channels, with a limit to the wait for them.

#include "device.hpp"

#include <chrono>
#include <fcntl.h>
#include <poll.h>

namespace rig {

inline bool readable(int fd, std::chrono::milliseconds patience) {
    pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&p, 1, int(patience.count())) == 1;
}

inline bool no_event(const Context& context) {
    return !readable(context->async_fd, std::chrono::milliseconds{0});
}

// The next event of a context, acknowledged in the end; fails the test case if none comes.
class AsyncEvent {
public:
    explicit AsyncEvent(const Context& context) {
        REQUIRE(readable(context->async_fd, kPatience));
        REQUIRE(ibv_get_async_event(context.get(), &event_) == 0);
    }
    ~AsyncEvent() { ibv_ack_async_event(&event_); }
    AsyncEvent(const AsyncEvent&) = delete;
    AsyncEvent& operator=(const AsyncEvent&) = delete;

    const ibv_async_event* operator->() const { return &event_; }

private:
    ibv_async_event event_{};
};

inline bool no_event(const Channel& channel) {
    return !readable(channel->fd, std::chrono::milliseconds{0});
}

// Waits for the next event of a channel, and acknowledges it.
inline ibv_cq* next_event(const Channel& channel, void** context = nullptr) {
    REQUIRE(readable(channel->fd, kPatience));
    ibv_cq* cq = nullptr;
    void* ignored = nullptr;
    REQUIRE(ibv_get_cq_event(channel.get(), &cq, context ? context : &ignored) == 0);
    ibv_ack_cq_events(cq, 1);
    return cq;
}

} // namespace rig
