// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "ofi/object.hpp"

#include <optional>
#include <rdma/fi_eq.h>
#include <sys/types.h>

namespace odrc::ofi {

// What the blocking calls of a queue or counter sleep on (wait_obj of fi_cq(3), fi_cntr(3),
// fi_eq(3)): an epoll(7) descriptor over all that may wake them, or nothing, and they yield.
// Conditions of pthreads are not offered: nobody would signal them, for progress is manual.
class WaitObject {
public:
    explicit WaitObject(fi_wait_obj kind); // throws Error

    bool by_descriptor() const noexcept { return static_cast<bool>(epoll_); }
    void watch(int fd); // throws Error

    // FI_GETWAIT and FI_GETWAITOBJ of fi_control(3).
    int control(int command, void* argument) const noexcept;

    // Sleeps until attempt() gives a result, and gives that, or -FI_EAGAIN when the time is over.
    // arm() has descriptors become readable for what happens from then on.
    template <class Attempt, class Arm>
    ssize_t wait(int timeout, const Attempt& attempt, const Arm& arm) const noexcept {
        if (!may_block()) return -FI_ENOSYS;
        const Time end = timeout < 0 ? kNever : Clock::now() + std::chrono::milliseconds{timeout};
        for (;;) {
            if (const std::optional<ssize_t> result = attempt()) return *result;
            if (by_descriptor()) {
                arm();
                if (const std::optional<ssize_t> result = attempt()) return *result;
            }
            if (const int error = sleep(end)) return error;
        }
    }

private:
    bool may_block() const noexcept { return by_descriptor() || kind_ == FI_WAIT_YIELD; }
    int sleep(Time end) const noexcept;
    int give_pollfd(fi_wait_pollfd& out) const noexcept;

    const fi_wait_obj kind_;
    Fd epoll_;
};

} // namespace odrc::ofi
