// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/spare_queues.hpp"

#include "base/error.hpp"

namespace odrc::ondemand {
namespace {

// For so long no lane has been wanted when a spare one is made. What is to go over the last lane
// has begun to by then.
constexpr std::chrono::milliseconds kQuiet{2};

} // namespace

verbs::QueuePair SpareQueues::take() {
    wanted_ = std::min(wanted_ + 1, kMost);
    due_ = Clock::now() + kQuiet;
    if (spares_.empty()) return make();
    verbs::QueuePair qp = std::move(spares_.back());
    spares_.pop_back();
    return qp;
}

// If there is no memory for it, nobody asks again before the next lane.
void SpareQueues::make_one() noexcept {
    const int error = guarded([&] {
        spares_.push_back(make());
        return 0;
    });
    if (error) wanted_ = spares_.size();
    due_ = Clock::now() + kQuiet;
}

} // namespace odrc::ondemand
