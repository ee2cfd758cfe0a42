// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/creation.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <csignal>
#include <sched.h>
#include <thread>

namespace odrc::verbs {
namespace {

constexpr size_t kMostThreads = 16; // more gain nothing, on any machine of Xu et al.
constexpr std::chrono::milliseconds kWorthAThread{1};

// What one thread made, or why it could not.
struct Share {
    std::vector<QueuePair> made;
    int error{0};
};

void make(const QueuePairKind& kind, size_t count, Share& share) noexcept {
    share.error = -guarded([&] {
        share.made.reserve(count);
        while (share.made.size() < count)
            share.made.emplace_back(kind.adapter, kind.cq, kind.srq, kind.depth, kind.access);
        return 0;
    });
}

// Signals belong to the application's threads.
class SignalsHeld {
public:
    SignalsHeld() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    sigset_t before_;
};

} // namespace

// The least of a few: what else the processor did meanwhile is not counted.
Cost cost_of_one(const QueuePairKind& kind) {
    using std::chrono::nanoseconds;
    constexpr int kSamples = 4;
    Cost least{nanoseconds::max(), nanoseconds::max()};
    for (int i = 0; i < kSamples; ++i) {
        const Time before = Clock::now();
        QueuePair qp{kind.adapter, kind.cq, kind.srq, kind.depth, kind.access};
        const Time made = Clock::now();
        // To itself, which costs as much as to another.
        if (const int error = qp.connect(qp.address())) throw Error{error};
        least.creation = std::min<nanoseconds>(least.creation, made - before);
        least.connection = std::min<nanoseconds>(least.connection, Clock::now() - made);
    }
    return least;
}

size_t threads_for(size_t count, std::chrono::nanoseconds creation) noexcept {
    cpu_set_t allowed;
    size_t processors = 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        processors = static_cast<size_t>(CPU_COUNT(&allowed));
    return threads_for(count, creation, processors);
}

size_t threads_for(size_t count, std::chrono::nanoseconds creation, size_t processors) noexcept {
    const auto worth = static_cast<size_t>(count * creation / kWorthAThread);
    return std::clamp(std::min(processors, worth), size_t{1}, kMostThreads);
}

void create(const QueuePairKind& kind, size_t count, size_t threads,
            std::vector<QueuePair>& queue_pairs) {
    queue_pairs.reserve(queue_pairs.size() + count);
    std::vector<Share> shares(threads);
    const auto part = [&](size_t i) { return count / threads + (i < count % threads); };
    {
        std::vector<std::jthread> helpers;
        const SignalsHeld held;
        try {
            for (size_t i = 1; i < threads; ++i)
                helpers.emplace_back([&, i] { make(kind, part(i), shares[i]); });
        } catch (const std::system_error&) {
            // What no thread could be had for, this one does.
        }
        const size_t helped = helpers.size();
        make(kind, part(0), shares[0]);
        for (size_t i = helped + 1; i < threads; ++i) make(kind, part(i), shares[i]);
    }
    for (const Share& share : shares)
        if (share.error) throw Error{share.error};
    for (Share& share : shares) std::ranges::move(share.made, std::back_inserter(queue_pairs));
}

} // namespace odrc::verbs
