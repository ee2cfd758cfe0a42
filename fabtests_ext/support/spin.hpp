// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <sched.h>

namespace fabtests_ext {

// Asks again and again until it holds. Yields only after far more tries than an answer from
// another processor takes: where there is one processor for both sides, that keeps them going.
template <class Condition>
void spin_until(Condition&& holds) {
    constexpr unsigned kPatience = 4096;
    for (unsigned tries = 1; !holds(); ++tries) {
        __builtin_ia32_pause(); // a look too many takes the line away from its writer
        if (tries % kPatience == 0) sched_yield();
    }
}

} // namespace fabtests_ext
