// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/watchdog.hpp"

#include <pthread.h>
#include <rdma/fi_eq.h>

namespace odrc::ofi {

// FI_WAIT_MUTEX_COND: a condition that is signaled when a descriptor is readable. The thread that
// does it, one for each such object, holds nothing else when it takes the mutex, and waits for
// nobody who does: the program may call whatever it wants while it holds it.
class Condition final : public Watchdog::Client {
public:
    explicit Condition(int fd); // throws Error
    ~Condition();

    fi_mutex_cond handles() noexcept { return {&mutex_, &condition_}; }
    // Signals once when the descriptor is readable from now on.
    void arm() noexcept { thread_.watch_again(*this, fd_); }

    Time serve() noexcept override;

private:
    const int fd_;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
    Watchdog thread_;
};

} // namespace odrc::ofi
