// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/crowd.hpp"

#include <sys/resource.h>

namespace odrc {

uint64_t switches_to_others() noexcept {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_nivcsw);
}

void Crowd::ask() noexcept {
    const uint64_t now = switches_();
    const uint64_t more = now - known_.exchange(now, std::memory_order_relaxed);
    const bool felt = more >= (felt_.load(std::memory_order_relaxed) ? kMany : 1);
    felt_.store(felt, std::memory_order_relaxed);
    left_.store(felt ? kCrowded : kAlone, std::memory_order_relaxed);
}

} // namespace odrc
