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

namespace odrc {

Watchdog::Watchdog()
    : epoll_{epoll_create1(EPOLL_CLOEXEC)}
    , wakeup_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    if (!epoll_ || !wakeup_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event)) {
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

int Watchdog::timeout_ms() noexcept {
    Time first = kNever;
    for (const Entry& e : clients_) first = std::min(first, e.deadline);
    if (first == kNever) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 60'000));
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
        const int timeout = timeout_ms();
        lock.unlock();
        epoll_event events[16];
        const int n = epoll_wait(epoll_.get(), events, 16, timeout);
        lock.lock();
        serve(nullptr);
        for (int i = 0; i < n; ++i) {
            if (events[i].data.ptr) {
                serve(static_cast<Client*>(events[i].data.ptr));
                continue;
            }
            eventfd_t count;
            [[maybe_unused]] const auto bytes = ::read(wakeup_.get(), &count, sizeof count);
            for (Entry& e : clients_) e.deadline = e.client->serve();
        }
    }
}

} // namespace odrc
