// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"

namespace odrc {

// How long it takes until a thread runs that sleeps as the watchdog does, in epoll_wait(2), and is
// woken: measured the first time that it is asked, which takes a millisecond or two.
Clock::duration wakeup_cost() noexcept;

} // namespace odrc
