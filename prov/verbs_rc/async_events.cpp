// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/async_events.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <fcntl.h>

namespace odrc::verbs {

AsyncEvents::AsyncEvents(Context& context, Watchdog& watchdog)
    : context_{context}
    , watchdog_{watchdog} {
    const int fd = context_.async_fd();
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK)) throw Error{errno};
    watchdog_.add(*this, context_.async_fd());
}

AsyncEvents::~AsyncEvents() { watchdog_.remove(*this, context_.async_fd()); }

void AsyncEvents::watch(const ibv_srq& srq, std::atomic<bool>& reached) {
    const std::lock_guard lock{mutex_};
    watched_.push_back({&srq, &reached});
}

void AsyncEvents::watch_no_more(const ibv_srq& srq) noexcept {
    const std::lock_guard lock{mutex_};
    std::erase_if(watched_, [&](const Watched& w) { return w.srq == &srq; });
}

Time AsyncEvents::serve() noexcept {
    const std::lock_guard lock{mutex_};
    ibv_async_event event;
    while (context_.get_async_event(&event) == 0) {
        take(event);
        context_.ack_async_event(&event);
    }
    return kNever;
}

void AsyncEvents::take(const ibv_async_event& event) noexcept {
    if (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED) {
        ODRC_INFO(FI_LOG_DOMAIN, "the device tells of its event {} (ibv_get_async_event(3))",
                  static_cast<int>(event.event_type));
        return;
    }
    for (const Watched& w : watched_) {
        if (w.srq != event.element.srq) continue;
        w.reached->store(true, std::memory_order_release);
        watchdog_.wake();
    }
}

} // namespace odrc::verbs
