// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/agent.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "softrc/async_event.hpp"
#include "softrc/errand.hpp"
#include "softrc/process.hpp"

#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>

namespace odrc::soft {
namespace {

// How often waiting work requests are tried while nobody polls.
constexpr int kRetryMs = 1;

} // namespace

Agent::Agent(Process& process)
    : process_{process}
    , epoll_{epoll_create1(EPOLL_CLOEXEC)}
    , pipe_{} {
    epoll_event event{.events = EPOLLIN, .data = {.fd = -1}};
    if (!epoll_ || !pipe_.ok() || fcntl(pipe_.fd(), F_SETFL, O_NONBLOCK) ||
        epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pipe_.fd(), &event)) {
        ODRC_WARN(FI_LOG_DOMAIN, "soft0: no descriptors for the agent: {}", fi_strerror(errno));
        throw Error{errno};
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals belong to the application's threads
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error& e) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        ODRC_WARN(FI_LOG_DOMAIN, "soft0: no thread for the agent: {}", e.what());
        throw Error{FI_EAGAIN};
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "odrc-soft");
    process_.arena().header().agent = pipe_.name();
}

Agent::~Agent() {
    stop_.store(true, std::memory_order_release);
    wake(Task::none);
    thread_.join();
}

void Agent::watch(int pidfd) noexcept {
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = pidfd}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd, &event);
}

uint64_t Agent::event(Task task) noexcept {
    return AsyncEvent{
        .source = EventSource::none, .index = 0, .qp_num = 0, .type = static_cast<uint32_t>(task)}
        .bits();
}

void Agent::wake(Task task) noexcept { pipe_.write(event(task)); }

void Agent::read_pipe() noexcept {
    for (uint64_t bits; pipe_.read(bits);) {
        const auto event = AsyncEvent::from(bits);
        if (event.source == EventSource::qp)
            process_.queue_pair_broken(event);
        else if (event.type == static_cast<uint32_t>(Task::visitors))
            process_.check_visitors();
        else if (event.type == static_cast<uint32_t>(Task::errands))
            serve_errands(process_.view());
    }
}

void Agent::run() noexcept {
    while (!stop_.load(std::memory_order_acquire)) {
        epoll_event events[16];
        const int n = epoll_wait(epoll_.get(), events, 16, process_.any_stalled() ? kRetryMs : -1);
        for (int i = 0; i < n; ++i) {
            if (events[i].data.fd >= 0)
                process_.peer_died(events[i].data.fd);
            else
                read_pipe();
        }
        if (process_.any_stalled()) process_.retry_stalled();
    }
}

} // namespace odrc::soft
