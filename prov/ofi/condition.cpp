// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/condition.hpp"

namespace odrc::ofi {
namespace {

using namespace std::chrono_literals;

// When the program holds the mutex, it is tried again so much later.
constexpr auto kTryAgain = 1ms;

} // namespace

Condition::Condition(int fd)
    : fd_{fd} {
    thread_.add(*this, fd_, Watchdog::Watch::once);
}

Condition::~Condition() { thread_.remove(*this, fd_); }

Time Condition::serve() noexcept {
    if (pthread_mutex_trylock(&mutex_) != 0) return Clock::now() + kTryAgain;
    pthread_cond_broadcast(&condition_);
    pthread_mutex_unlock(&mutex_);
    return kNever;
}

} // namespace odrc::ofi
