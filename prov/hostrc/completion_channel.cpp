// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hostrc/completion_channel.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "hostrc/completion_queue.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace odrc::host {
namespace {

void watch(const Fd& epoll, int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event)) throw Error{errno};
}

} // namespace

CompletionChannel::CompletionChannel(verbs::Context& device, ibv_context& context)
    : ibv_comp_channel{}
    , device_{device}
    , below_{device, device.create_comp_channel()}
    , timer_{timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)}
    , epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    if (!below_ || !timer_ || !epoll_ || fcntl(below_->fd, F_SETFL, O_NONBLOCK)) throw Error{errno};
    watch(epoll_, below_->fd);
    watch(epoll_, timer_.get());
    ibv_comp_channel::context = &context;
    fd = epoll_.get();
}

void CompletionChannel::wake_in(Ticks rest, CompletionQueue& queue) noexcept {
    timed_ = &queue;
    const auto ns = std::max<int64_t>(time_of(rest).count(), 1); // 0 would mean never
    const itimerspec when{
        .it_interval = {},
        .it_value = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000}};
    timerfd_settime(timer_.get(), 0, &when, nullptr);
}

CompletionQueue* CompletionChannel::take_event() noexcept {
    ibv_cq* below = nullptr;
    void* owner = nullptr;
    if (device_.get_cq_event(below_.get(), &below, &owner) == 0) {
        device_.ack_cq_events(below, 1);
        return static_cast<CompletionQueue*>(owner);
    }
    uint64_t expired;
    if (read(timer_.get(), &expired, sizeof expired) == sizeof expired) return timed_;
    errno = EAGAIN;
    return nullptr;
}

} // namespace odrc::host
