// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/wait_object.hpp"

#include "base/log.hpp"
#include "ofi/wait_set.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

namespace odrc::ofi {
namespace {

Fd make_epoll(fi_wait_obj kind) {
    switch (kind) {
    case FI_WAIT_NONE:
    case FI_WAIT_YIELD:
        return {};
    case FI_WAIT_UNSPEC:
    case FI_WAIT_FD:
    case FI_WAIT_POLLFD:
    case FI_WAIT_MUTEX_COND:
    case FI_WAIT_SET:
        break;
    default:
        ODRC_WARN(FI_LOG_CORE, "wait objects of kind {} are not offered", int{kind});
        throw Error{FI_ENOSYS};
    }
    Fd fd{epoll_create1(EPOLL_CLOEXEC)};
    if (!fd) {
        ODRC_WARN(FI_LOG_CORE, "no descriptor to wait on: {}", fi_strerror(errno));
        throw Error{errno};
    }
    return fd;
}

} // namespace

WaitObject::WaitObject(fi_wait_obj kind, fid& owner, fid_wait* set)
    : kind_{kind}
    , owner_{owner}
    , epoll_{make_epoll(kind)} {
    if (kind == FI_WAIT_MUTEX_COND) condition_.emplace(epoll_.get());
    if (kind != FI_WAIT_SET) return;
    if (!set) throw Error{FI_EINVAL};
    static_cast<WaitSet*>(set)->add(owner, epoll_.get());
    set_ = static_cast<WaitSet*>(set);
}

WaitObject::~WaitObject() {
    if (set_) set_->remove(owner_);
}

void WaitObject::watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event)) {
        ODRC_WARN(FI_LOG_CORE, "cannot wait on descriptor {}: {}", fd, fi_strerror(errno));
        throw Error{errno};
    }
}

int WaitObject::control(int command, void* argument) noexcept {
    if (command == FI_GETWAITOBJ) {
        *static_cast<fi_wait_obj*>(argument) = kind_;
        return 0;
    }
    if (command != FI_GETWAIT || !by_descriptor() || kind_ == FI_WAIT_SET) return -FI_ENOSYS;
    if (kind_ == FI_WAIT_POLLFD) return give_pollfd(*static_cast<fi_wait_pollfd*>(argument));
    if (kind_ == FI_WAIT_MUTEX_COND)
        *static_cast<fi_mutex_cond*>(argument) = condition_->handles();
    else
        *static_cast<int*>(argument) = epoll_.get();
    return 0;
}

// The one descriptor stays the same whatever comes to be watched, and so does the index.
int WaitObject::give_pollfd(fi_wait_pollfd& out) const noexcept {
    const size_t room = std::exchange(out.nfds, 1);
    out.change_index = 0;
    if (room < 1) return -FI_ETOOSMALL;
    *out.fd = {.fd = epoll_.get(), .events = POLLIN, .revents = 0};
    return 0;
}

// Until there may be something: 0. -FI_EAGAIN when the time is over.
int WaitObject::sleep(Time end) const noexcept {
    int left = -1;
    if (end != kNever) {
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        if (rest.count() <= 0) return -FI_EAGAIN;
        left = static_cast<int>(rest.count());
    }
    if (!by_descriptor()) {
        sched_yield();
        return 0;
    }
    pollfd ready{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
    return poll(&ready, 1, left) < 0 ? -errno : 0;
}

} // namespace odrc::ofi
