// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/staging_queue.hpp"

#include "schemes/transfer.hpp"

#include <algorithm>

namespace odrc::mpi {

// Who holds the memory may do so for long, if the other side is busy otherwise: when none has been
// given back for a while, whoever is the next one gets some of his own.
Staging::Stretch StagingQueue::take(size_t bytes, Transfer& who) {
    constexpr std::chrono::milliseconds kLong{10};
    if (!waiting_.empty() && waiting_.front() != &who) {
        if (std::ranges::find(waiting_, &who) == waiting_.end()) waiting_.push_back(&who);
        return {};
    }
    Staging::Stretch stretch = staging_.take(bytes);
    if (!stretch && !waiting_.empty() && Clock::now() - since_ > kLong)
        stretch = staging_.make(bytes);
    if (stretch) {
        wait_no_more(who);
    } else if (waiting_.empty()) {
        waiting_.push_back(&who);
        since_ = Clock::now();
    }
    return stretch;
}

void StagingQueue::give_back(Staging::Stretch& stretch) noexcept {
    if (!stretch) return;
    staging_.give_back(stretch);
    if (waiting_.empty()) return;
    since_ = Clock::now();
    wake_first();
}

void StagingQueue::wait_no_more(const Transfer& who) noexcept {
    if (std::erase(waiting_, &who)) wake_first();
}

void StagingQueue::wake_first() noexcept {
    if (!waiting_.empty()) waiting_.front()->wake();
}

void StagingQueue::look() noexcept {
    constexpr int kLooks = 256;
    if (++looks_ % kLooks == 0) wake_first();
}

} // namespace odrc::mpi
