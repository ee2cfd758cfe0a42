// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/watchdog.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

namespace odrc {
namespace {

void drain(const Fd& counter) noexcept {
    uint64_t count;
    [[maybe_unused]] const auto bytes = ::read(counter.get(), &count, sizeof count);
}

} // namespace

Watchdog::Watchdog()
    : epoll_{epoll_create1(EPOLL_CLOEXEC)}
    , wakeup_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
    , timer_{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)} {
    epoll_event wakeup{.events = EPOLLIN, .data = {.ptr = &wakeup_}};
    epoll_event timer{.events = EPOLLIN, .data = {.ptr = &timer_}};
    if (!epoll_ || !wakeup_ || !timer_ ||
        epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &wakeup) ||
        epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer_.get(), &timer)) {
        ODRC_WARN(FI_LOG_DOMAIN, "no descriptors for the watchdog: {}", fi_strerror(errno));
        throw Error{errno};
    }

    // Signals belong to the application's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error& e) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        ODRC_WARN(FI_LOG_DOMAIN, "no thread for the watchdog: {}", e.what());
        throw Error{FI_EAGAIN};
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "odrc-watchdog");
}

Watchdog::~Watchdog() {
    {
        std::lock_guard lock{mutex_};
        stop_ = true;
    }
    wake();
    thread_.join();
}

void Watchdog::add(Client& client, int fd, Watch watch) {
    std::lock_guard lock{mutex_};
    epoll_event event{.events = watch == Watch::once ? EPOLLIN | EPOLLONESHOT : EPOLLIN,
                      .data = {.ptr = &client}};
    clients_.push_back({&client, kNever});
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event)) {
        clients_.pop_back();
        ODRC_WARN(FI_LOG_EP_CTRL, "the watchdog cannot watch descriptor {}: {}", fd,
                  fi_strerror(errno));
        throw Error{errno};
    }
}

void Watchdog::watch_again(Client& client, int fd) noexcept {
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.ptr = &client}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Watchdog::remove(Client& client, int fd) noexcept {
    std::lock_guard lock{mutex_};
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    std::erase_if(clients_, [&](const Entry& e) { return e.client == &client; });
}

void Watchdog::wake() noexcept {
    const eventfd_t one = 1;
    [[maybe_unused]] const auto n = ::write(wakeup_.get(), &one, sizeof one);
}

// By a descriptor: an epoll_wait(2) ends in whole milliseconds, and late by the thread's timer
// slack.
void Watchdog::set_timer() noexcept {
    Time first = kNever;
    for (const Entry& e : clients_) first = std::min(first, e.deadline);
    if (first == timer_at_) return;
    timer_at_ = first;
    itimerspec when{}; // never
    if (first != kNever) {
        // Nothing that is past would mean never, too; the clock is that of CLOCK_MONOTONIC.
        const auto ns =
            std::max<int64_t>(std::chrono::nanoseconds{first.time_since_epoch()}.count(), 1);
        when.it_value = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    }
    timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

// Serves a client whose descriptor is readable (it may have left since), and all that are due.
void Watchdog::serve(Client* readable) noexcept {
    const Time now = Clock::now();
    for (Entry& e : clients_)
        if (e.client == readable || e.deadline <= now) e.deadline = e.client->serve();
}

void Watchdog::run() noexcept {
    std::unique_lock lock{mutex_};
    while (!stop_) {
        set_timer();
        lock.unlock();
        epoll_event events[16];
        const int n = epoll_wait(epoll_.get(), events, 16, -1);
        lock.lock();
        serve(nullptr);
        for (int i = 0; i < n; ++i) {
            if (events[i].data.ptr == &timer_) {
                drain(timer_);
                timer_at_ = kNever;
            } else if (events[i].data.ptr == &wakeup_) {
                drain(wakeup_);
                for (Entry& e : clients_) e.deadline = e.client->serve();
            } else {
                serve(static_cast<Client*>(events[i].data.ptr));
            }
        }
    }
}

} // namespace odrc
