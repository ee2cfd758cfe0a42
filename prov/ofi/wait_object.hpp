// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "ofi/condition.hpp"
#include "ofi/object.hpp"

#include <optional>
#include <rdma/fi_eq.h>
#include <sys/types.h>

namespace odrc::ofi {

class WaitSet;

// What the blocking calls of a queue or counter sleep on (wait_obj of fi_cq(3), fi_cntr(3),
// fi_eq(3)): an epoll(7) descriptor over all that may wake them, or nothing, and they yield. That
// of a member of a wait set is watched by the set, which alone may be slept on. Where the
// application asked for a condition of pthreads, the descriptor has it signaled.
class WaitObject {
public:
    // owner: the object that joins the set, where kind is FI_WAIT_SET. Throws Error.
    WaitObject(fi_wait_obj kind, fid& owner, fid_wait* set);
    ~WaitObject();
    WaitObject(const WaitObject&) = delete;
    WaitObject& operator=(const WaitObject&) = delete;

    // The application may sleep, here or on the set.
    bool may_sleep() const noexcept { return kind_ != FI_WAIT_NONE; }

    bool by_descriptor() const noexcept { return static_cast<bool>(epoll_); }
    void watch(int fd); // throws Error
    // What is watched has been armed: the application may go to sleep.
    void arm() noexcept {
        if (condition_) condition_->arm();
    }

    // FI_GETWAIT and FI_GETWAITOBJ of fi_control(3).
    int control(int command, void* argument) noexcept;

    // Sleeps until attempt() gives a result, and gives that, or -FI_EAGAIN when the time is over.
    // arm() has descriptors become readable for what happens from then on.
    template <class Attempt, class Arm>
    ssize_t wait(int timeout, const Attempt& attempt, const Arm& arm) const noexcept {
        if (kind_ == FI_WAIT_NONE || kind_ == FI_WAIT_SET) return -FI_ENOSYS;
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
    int sleep(Time end) const noexcept;
    int give_pollfd(fi_wait_pollfd& out) const noexcept;

    const fi_wait_obj kind_;
    fid& owner_;
    Fd epoll_;
    std::optional<Condition> condition_;
    WaitSet* set_{nullptr};
};

} // namespace odrc::ofi
