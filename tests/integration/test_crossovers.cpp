// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Where one way to send overtakes another, as whoever opens a device first finds it. (That it is
// measured depends on the environment: see contract.sh.)

#include "statistics.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace duo;

namespace {

constexpr uint64_t kMostEager = 8192;

} // namespace

TEST_CASE("threads that open a device at once find the same crossovers") {
    constexpr size_t kThreads = 4;
    std::vector<std::unique_ptr<Watched>> sides(kThreads);
    std::vector<std::thread> threads;
    std::atomic<size_t> ready{0};
    for (auto& side : sides)
        threads.emplace_back([&] {
            for (++ready; ready < kThreads;) sched_yield();
            side = std::make_unique<Watched>();
        });
    for (std::thread& thread : threads) thread.join();
    const fi_odrc_statistics first = statistics_of(*sides[0]);
    CHECK(first.inline_bytes_most > 0);
    CHECK(first.copy_bytes_most <= kMostEager);
    CHECK(first.eager_bytes_most >= sides[0]->endpoint.info().tx_attr->inject_size);
    CHECK(first.eager_bytes_most <= kMostEager);
    for (const auto& side : sides) {
        const fi_odrc_statistics found = statistics_of(*side);
        CHECK(found.inline_bytes_most == first.inline_bytes_most);
        CHECK(found.copy_bytes_most == first.copy_bytes_most);
        CHECK(found.eager_bytes_most == first.eager_bytes_most);
    }
}

TEST_CASE("a message is announced if it is longer than what goes in one send, or in several") {
    Duo d;
    const auto most = static_cast<size_t>(statistics_of(d.a).eager_bytes_most);
    const auto longest = std::max(most, static_cast<size_t>(statistics_of(d.a).sliced_bytes_most));
    for (const size_t length : {most, longest + 1}) {
        int sending = 0, receiving = 0;
        std::vector<char> in(length);
        const auto out = pattern(length, 'a');
        REQUIRE(fi_recv(d.b.ep(), in.data(), length, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        REQUIRE(fi_send(d.a.ep(), out.data(), length, nullptr, d.to_b, &sending) == 0);
        CHECK_FALSE(d.outcome(d.a, &sending).error);
        CHECK_FALSE(d.outcome(d.b, &receiving).error);
        CHECK(std::equal(in.begin(), in.end(), out.begin()));
    }
    const fi_odrc_statistics sent = statistics_of(d.a);
    CHECK(messages_of(sent.sent_eager) + messages_of(sent.sent_ring) == 1);
    CHECK(messages_of(sent.sent_announced) == 1);
}
