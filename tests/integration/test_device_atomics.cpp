// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_atomic(3): what the device does by itself, and that it is one with what the target does.

#include "atomics.hpp"

#include <atomic>
#include <random>
#include <thread>

using namespace duo;

namespace {

// Makes progress on the initiator alone.
Outcome alone(Watched& initiator, const void* context) {
    std::optional<Outcome> found;
    poll_until(initiator, [&] { return (found = initiator.take(context)).has_value(); });
    return *found;
}

uint64_t add(Watched& side, const Numbers<uint64_t>& there, fi_addr_t to, size_t i,
             uint64_t operand) {
    uint64_t seen = 0;
    int context = 0;
    REQUIRE(fi_fetch_atomic(side.ep(), &operand, 1, nullptr, &seen, nullptr, to, there.at(i),
                            there.key(), FI_UINT64, FI_SUM, &context) == 0);
    CHECK_FALSE(alone(side, &context).error);
    return seen;
}

} // namespace

TEST_CASE("words are added to and swapped while the target does not call in") {
    Duo d{kAtomicWishes};
    Numbers<uint64_t> there{d.b, {40, 7}};
    // The connection may need both.
    int first = 0;
    const uint64_t none = 0;
    REQUIRE(fi_atomic(d.a.ep(), &none, 1, nullptr, d.to_b, there.at(1), there.key(), FI_UINT64,
                      FI_SUM, &first) == 0);
    CHECK_FALSE(d.outcome(d.a, &first).error);

    const uint64_t two = 2;
    int context = 0;
    REQUIRE(fi_atomic(d.a.ep(), &two, 1, nullptr, d.to_b, there.at(0), there.key(), FI_INT64,
                      FI_SUM, &context) == 0);
    CHECK_FALSE(alone(d.a, &context).error);
    CHECK(there.all()[0] == 42);
    CHECK(add(d.a, there, d.to_b, 0, static_cast<uint64_t>(-1)) == 42);
    for (const uint64_t found : {41, 99}) {
        const uint64_t compare = 41;
        const uint64_t to = 99;
        uint64_t seen = 0;
        REQUIRE(fi_compare_atomic(d.a.ep(), &to, 1, nullptr, &compare, nullptr, &seen, nullptr,
                                  d.to_b, there.at(0), there.key(), FI_UINT64, FI_CSWAP,
                                  &context) == 0);
        CHECK_FALSE(alone(d.a, &context).error);
        CHECK(seen == found);
    }
    CHECK(there.all() == std::vector<uint64_t>{99, 7});
    REQUIRE(fi_inject_atomic(d.a.ep(), &two, 1, d.to_b, there.at(1), there.key(), FI_UINT64,
                             FI_SUM) == 0);
    poll_until(d.a, [&] { return there.all()[1] == 9; });
}

TEST_CASE("the device's and the target's atomics are done in the order in which they are asked") {
    Duo d{kAtomicWishes};
    Numbers<uint64_t> there{d.b, {1}};
    constexpr size_t kTimes = 2000;
    std::mt19937_64 random{7};
    uint64_t model = 1;
    std::vector<uint64_t> seen(kTimes), expected(kTimes);
    int context = 0;
    size_t over = 0;
    const auto look = [&] {
        d.poll();
        while (const auto outcome = d.a.take(&context)) {
            REQUIRE_FALSE(outcome->error);
            ++over;
        }
    };
    for (size_t i = 0; i < kTimes; ++i) {
        const uint64_t operand = random(), compare = random() % 2 ? model : random();
        const fi_op op = std::array{FI_SUM,  FI_SUM, FI_CSWAP,       FI_PROD,
                                    FI_BXOR, FI_MAX, FI_ATOMIC_WRITE}[random() % 7];
        expected[i] = model;
        ssize_t result;
        while ((result = op == FI_CSWAP
                             ? fi_compare_atomic(d.a.ep(), &operand, 1, nullptr, &compare, nullptr,
                                                 &seen[i], nullptr, d.to_b, there.at(0),
                                                 there.key(), FI_UINT64, op, &context)
                             : fi_fetch_atomic(d.a.ep(), &operand, 1, nullptr, &seen[i], nullptr,
                                               d.to_b, there.at(0), there.key(), FI_UINT64, op,
                                               &context)) == -FI_EAGAIN)
            look();
        REQUIRE(result == 0);
        if (op == FI_SUM) model += operand;
        if (op == FI_CSWAP && compare == model) model = operand;
        if (op == FI_PROD) model *= operand;
        if (op == FI_BXOR) model ^= operand;
        if (op == FI_MAX) model = std::max(model, operand);
        if (op == FI_ATOMIC_WRITE) model = operand;
        if (random() % 3 == 0) look();
    }
    const auto end = Clock::now() + kPatience;
    while (over < kTimes) {
        REQUIRE(Clock::now() < end);
        look();
        sched_yield();
    }
    CHECK(seen == expected);
    CHECK(there.all()[0] == model);
}

// The device adds for one initiator, a word at a time, what the target turns over for another,
// many words at a time.
TEST_CASE("no change is lost between the device and the target") {
    constexpr size_t kTimes = 1000; // an even number
    constexpr size_t kWords = 40;
    constexpr uint64_t kTop = uint64_t{1} << 63;
    Duo d{kAtomicWishes};
    Watched other{kAtomicWishes};
    const fi_addr_t from_other = other.endpoint.insert(d.b.endpoint.name());
    Numbers<uint64_t> there{d.b, std::vector<uint64_t>(kWords)};
    std::atomic<bool> over{false};
    std::jthread target{[&] {
        while (!over) {
            d.b.poll();
            sched_yield();
        }
    }};
    std::jthread second{[&] {
        const std::vector<uint64_t> tops(kWords, kTop);
        std::vector<uint64_t> seen(kWords);
        int context = 0;
        for (size_t i = 0; i < kTimes; ++i) {
            REQUIRE(fi_fetch_atomic(other.ep(), tops.data(), kWords, nullptr, seen.data(), nullptr,
                                    from_other, there.at(0), there.key(), FI_UINT64, FI_BXOR,
                                    &context) == 0);
            CHECK_FALSE(alone(other, &context).error);
            for (const uint64_t word : seen) CHECK(word / kTop == i % 2);
        }
    }};
    for (size_t i = 0; i < kTimes; ++i)
        CHECK((add(d.a, there, d.to_b, i % kWords, 1) & ~kTop) == i / kWords);
    second.join();
    over = true;
    target.join();
    CHECK(there.all() == std::vector<uint64_t>(kWords, kTimes / kWords));
}

TEST_CASE("who may only write changes words by way of the target") {
    Duo d{kAtomicWishes};
    uint64_t word = 5;
    fid_mr* mr = nullptr;
    REQUIRE(fi_mr_reg(d.b.endpoint.domain(), &word, sizeof word, FI_REMOTE_WRITE, 0, 0, 0, &mr,
                      nullptr) == 0);
    const Owned<fid_mr> region{mr};
    const auto address = reinterpret_cast<uint64_t>(&word);
    const uint64_t one = 1;
    uint64_t seen = 0;
    int context = 0;
    REQUIRE(fi_atomic(d.a.ep(), &one, 1, nullptr, d.to_b, address, fi_mr_key(mr), FI_UINT64, FI_SUM,
                      &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(word == 6);
    REQUIRE(fi_fetch_atomic(d.a.ep(), &one, 1, nullptr, &seen, nullptr, d.to_b, address,
                            fi_mr_key(mr), FI_UINT64, FI_SUM, &context) == 0);
    const auto outcome = d.outcome(d.a, &context);
    REQUIRE(outcome.error);
    CHECK(outcome.error->err == FI_EACCES);
    CHECK(word == 6);
}
