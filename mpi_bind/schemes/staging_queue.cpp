// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/staging_queue.hpp"

#include "schemes/transfer.hpp"

#include <algorithm>

namespace odrc::mpi {

// Who holds the memory may do so for long, if the other side is busy otherwise: whoever has waited
// gets some of his own.
Staging::Stretch StagingQueue::take(size_t bytes, Transfer& who) {
    constexpr std::chrono::milliseconds kLong{10};
    const auto place = std::ranges::find(waiting_, &who, &Waiting::who);
    Staging::Stretch stretch;
    if (waiting_.empty() || place == waiting_.begin()) stretch = staging_.take(bytes);
    if (!stretch && place != waiting_.end() && Clock::now() - place->since > kLong)
        stretch = staging_.make(bytes);
    if (stretch)
        wait_no_more(who);
    else if (place == waiting_.end())
        waiting_.push_back({&who, Clock::now()});
    return stretch;
}

void StagingQueue::give_back(Staging::Stretch& stretch) noexcept {
    staging_.give_back(stretch);
    wake_first();
}

void StagingQueue::wait_no_more(const Transfer& who) noexcept {
    if (std::erase_if(waiting_, [&](const Waiting& w) { return w.who == &who; })) wake_first();
}

void StagingQueue::wake_first() noexcept {
    if (!waiting_.empty()) waiting_.front().who->wake();
}

void StagingQueue::look() noexcept {
    constexpr int kLooks = 256;
    if (++looks_ % kLooks == 0) wake_first();
}

} // namespace odrc::mpi
