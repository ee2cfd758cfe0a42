// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/stations.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <sys/epoll.h>

namespace odrc::ondemand {
namespace {

[[noreturn]] void fail() {
    const int error = errno;
    ODRC_WARN(FI_LOG_EP_CTRL, "no descriptor to wait for completions on: {}", fi_strerror(error));
    throw Error{error};
}

Fd make_waker(bool needed) {
    if (!needed) return {};
    Fd fd{epoll_create1(EPOLL_CLOEXEC)};
    if (!fd) fail();
    return fd;
}

} // namespace

Stations::Stations(verbs::Adapter& device, verbs::Adapter* soft, Counters& counters,
                   const Station::Sizes& sizes, bool waitable)
    : soft_adapter_{soft}
    , counters_{counters}
    , sizes_{sizes}
    , waker_{make_waker(waitable)}
    , rings_{counters, parameters().eager, sizes.rings, waitable}
    , device_{device, counters, sizes, rings_, waitable, Station::Place::domain} {
    watch(device_);
}

Station* Stations::open_soft() noexcept {
    if (soft_ || !soft_adapter_) return soft();
    const int error = -guarded([this] {
        soft_.emplace(*soft_adapter_, counters_, sizes_, rings_, static_cast<bool>(waker_),
                      Station::Place::beside);
        watch(*soft_);
        return 0;
    });
    if (error) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: peers of this host are not met on it: {}",
                  soft_adapter_->port().name(), fi_strerror(error));
        soft_.reset();
        soft_adapter_ = nullptr;
    } else if (waker_) {
        soft_->arm(); // somebody may be asleep already
    }
    return soft();
}

void Stations::watch(const Station& station) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = station.fd()}};
    if (waker_ && epoll_ctl(waker_.get(), EPOLL_CTL_ADD, station.fd(), &event)) fail();
}

void Stations::arm() noexcept {
    device_.arm();
    if (soft_) soft_->arm();
}

} // namespace odrc::ondemand
