// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/fd.hpp"

#include <mutex>
#include <thread>
#include <vector>

namespace odrc {

// One sleeping thread that serves what must go on while the application is elsewhere. It wakes
// when a client's descriptor is readable or its deadline has come, and costs nothing otherwise.
class Watchdog {
public:
    class Client {
    public:
        // The descriptor is readable or the deadline has passed. Gives the next deadline.
        // Runs on the watchdog's thread: the client takes its own gate.
        virtual Time serve() noexcept = 0;

    protected:
        ~Client() = default;
    };

    Watchdog();
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    // once: a descriptor that stays readable wakes nobody again before watch_again().
    enum class Watch { always, once };

    // fd stays the client's own and is open until remove(). Throws Error.
    void add(Client& client, int fd, Watch watch = Watch::always);
    void watch_again(Client& client, int fd) noexcept;

    // When this returns, serve() is not running and will not run again. The caller holds no gate
    // that serve() takes.
    void remove(Client& client, int fd) noexcept;

    // Has every client served soon: one of them has a new deadline.
    void wake() noexcept;

private:
    struct Entry {
        Client* client;
        Time deadline;
    };

    void run() noexcept;
    void serve(Client* readable) noexcept;
    void set_timer() noexcept;

    Fd epoll_;
    Fd wakeup_;
    Fd timer_;
    Time timer_at_{kNever}; // is when it ends
    std::mutex mutex_;      // guards the clients, and is held while one is served
    std::vector<Entry> clients_;
    bool stop_{false};
    std::thread thread_;
};

} // namespace odrc
