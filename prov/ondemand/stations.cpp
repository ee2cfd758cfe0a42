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

Stations::Stations(verbs::Adapter& device, const Others& others, Counters& counters,
                   const Station::Sizes& sizes, const Station::Sizes& datagram_sizes,
                   Sleeper sleeper)
    : others_{others}
    , counters_{counters}
    , sizes_{sizes}
    , datagram_sizes_{datagram_sizes}
    , waitable_{sleeper != Sleeper::nobody}
    , waker_{make_waker(waitable_ || may_have_datagrams())}
    , rings_{counters, parameters().eager, sizes.rings, sleeper}
    , device_{device, device, counters, sizes, rings_, waitable_, Station::Place::domain} {
    watch(device_);
}

Station* Stations::open_soft() noexcept {
    return open(soft_, others_.soft, others_.soft, sizes_, waitable_, Station::Place::beside,
                "peers of this host are not met on it");
}

Station* Stations::open_datagrams() noexcept {
    return open(datagrams_, others_.datagrams, &device_.adapter(), datagram_sizes_, true,
                Station::Place::datagrams, "peers have connections from the first word on");
}

Station* Stations::open(std::optional<Station>& station, verbs::Adapter*& adapter,
                        verbs::Adapter* memory, const Station::Sizes& sizes, bool waitable,
                        Station::Place place, const char* otherwise) noexcept {
    if (station || !adapter) return station ? &*station : nullptr;
    const int error = -guarded([&] {
        station.emplace(*adapter, *memory, counters_, sizes, rings_, waitable, place);
        watch(*station);
        return 0;
    });
    if (error) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: {}: {}", adapter->port().name(), otherwise,
                  fi_strerror(error));
        station.reset();
        adapter = nullptr;
        return nullptr;
    }
    if (station->fd() >= 0) station->arm(); // somebody may be asleep already
    return &*station;
}

void Stations::watch(const Station& station) {
    if (station.fd() < 0) return;
    epoll_event event{.events = EPOLLIN, .data = {.fd = station.fd()}};
    if (epoll_ctl(waker_.get(), EPOLL_CTL_ADD, station.fd(), &event)) fail();
}

void Stations::arm() noexcept {
    for_each([](Station& station) {
        if (station.fd() >= 0) station.arm();
    });
}

} // namespace odrc::ondemand
