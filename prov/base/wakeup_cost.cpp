// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/wakeup_cost.hpp"

#include "base/fd.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace odrc {
namespace {

using namespace std::chrono_literals;

// Of a host that is busy even the first ones tell enough.
constexpr size_t kRoundTrips = 15;
constexpr auto kLongEnough = 2ms;

// For whoever has no thread or no descriptors to measure with: that of a busy machine.
constexpr Clock::duration kUnknown = 50us;

struct Line {
    Fd there{eventfd(0, EFD_CLOEXEC)};
    Fd back{eventfd(0, EFD_CLOEXEC)};
    Fd epoll{epoll_create1(EPOLL_CLOEXEC)};
    bool over{false};

    bool ok() const noexcept {
        epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
        return there && back && epoll &&
               epoll_ctl(epoll.get(), EPOLL_CTL_ADD, there.get(), &event) == 0;
    }
};

void* answer(void* argument) noexcept {
    auto& line = *static_cast<Line*>(argument);
    for (eventfd_t count;;) {
        epoll_event event;
        if (epoll_wait(line.epoll.get(), &event, 1, -1) != 1) continue;
        eventfd_read(line.there.get(), &count);
        if (line.over) return nullptr;
        eventfd_write(line.back.get(), 1);
    }
}

// Its signals belong to the application's threads.
bool start(pthread_t& thread, Line& line) noexcept {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, nullptr, answer, &line);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error == 0;
}

// A round trip is two of them. The one in the middle is not that of a moment in which another
// thread had the processor.
Clock::duration measure() noexcept {
    Line line;
    pthread_t thread;
    if (!line.ok() || !start(thread, line)) return kUnknown;
    std::array<Clock::duration, kRoundTrips> trips;
    size_t n = 0;
    const Time begin = Clock::now();
    for (Time last = begin; n < trips.size() && last - begin < kLongEnough; ++n) {
        eventfd_t count;
        eventfd_write(line.there.get(), 1);
        while (eventfd_read(line.back.get(), &count)) {
        }
        const Time now = Clock::now();
        trips[n] = now - last;
        last = now;
    }
    line.over = true;
    eventfd_write(line.there.get(), 1);
    pthread_join(thread, nullptr);
    const auto middle = trips.begin() + static_cast<ptrdiff_t>(n / 2);
    std::nth_element(trips.begin(), middle, trips.begin() + static_cast<ptrdiff_t>(n));
    return *middle / 2;
}

} // namespace

Clock::duration wakeup_cost() noexcept {
    static const Clock::duration measured = measure();
    return measured;
}

} // namespace odrc
