// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_atomic(3): in which order atomics are done, and that none is lost among others on one memory.

#include "atomics.hpp"
#include "far.hpp"
#include "tests/forks.hpp"

#include <atomic>
#include <complex>
#include <set>
#include <thread>

using namespace duo;

namespace {

// Fetches all of it, one number after the other.
std::vector<uint64_t> fetch_and_add(Watched& side, fi_addr_t to, uint64_t address, uint64_t key,
                                    size_t times) {
    const uint64_t one = 1;
    std::vector<uint64_t> seen(times);
    size_t asked = 0, told = 0;
    const auto end = Clock::now() + kPatience;
    while (told < times) {
        REQUIRE(Clock::now() < end);
        if (asked < times && fi_fetch_atomic(side.ep(), &one, 1, nullptr, &seen[asked], nullptr, to,
                                             address, key, FI_UINT64, FI_SUM, nullptr) == 0)
            ++asked;
        side.poll();
        for (; !side.outcomes.empty(); side.outcomes.pop_front(), ++told)
            REQUIRE_FALSE(side.outcomes.front().error);
        sched_yield();
    }
    return seen;
}

} // namespace

TEST_CASE("atomics and what follows them, in the orders that are told") {
    Duo d{kAtomicWishes};
    Numbers<uint64_t> there{d.b, {0, 0}};
    constexpr uint64_t kTimes = 300; // more than a connection has under way
    std::vector<uint64_t> seen(kTimes);
    int context = 0, receiving = 0, sending = 0;
    for (uint64_t i = 0; i < kTimes; ++i) {
        const uint64_t number = i + 1;
        REQUIRE(fi_inject_atomic(d.a.ep(), &number, 1, d.to_b, there.at(0), there.key(), FI_UINT64,
                                 FI_ATOMIC_WRITE) == 0);
        REQUIRE(fi_fetch_atomic(d.a.ep(), nullptr, 1, nullptr, &seen[i], nullptr, d.to_b,
                                there.at(0), there.key(), FI_UINT64, FI_ATOMIC_READ,
                                &context) == 0);
    }
    // A message behind them finds them done.
    const uint64_t last = 77;
    char in = 0;
    REQUIRE(fi_inject_atomic(d.a.ep(), &last, 1, d.to_b, there.at(1), there.key(), FI_UINT64,
                             FI_BXOR) == 0);
    REQUIRE(fi_send(d.a.ep(), "m", 1, nullptr, d.to_b, &sending) == 0);
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(there.all() == std::vector<uint64_t>{kTimes, 77});
    for (uint64_t i = 0; i < kTimes; ++i) REQUIRE_FALSE(d.outcome(d.a, &context).error);
    for (uint64_t i = 0; i < kTimes; ++i) CHECK(seen[i] == i + 1);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("a read behind a fence sees what atomics before it have done, and the reverse") {
    Duo d{kAtomicWishes};
    Numbers<uint64_t> there{d.b, {0}};
    for (uint64_t i = 1; i <= 50; ++i) {
        uint64_t read = 0, fetched = 0;
        int reading = 0, fetching = 0, writing = 0;
        REQUIRE(fi_inject_atomic(d.a.ep(), &i, 1, d.to_b, there.at(0), there.key(), FI_UINT64,
                                 FI_ATOMIC_WRITE) == 0);
        const iovec iov{&read, sizeof read};
        const fi_rma_iov piece{there.at(0), sizeof read, there.key()};
        const fi_msg_rma r = rma_message(d.to_b, {&iov, 1}, {&piece, 1}, &reading);
        REQUIRE(fi_readmsg(d.a.ep(), &r, FI_FENCE | FI_COMPLETION) == 0);
        CHECK_FALSE(d.outcome(d.a, &reading).error);
        CHECK(read == i);

        const uint64_t written = 1000 + i;
        REQUIRE(fi_write(d.a.ep(), &written, sizeof written, nullptr, d.to_b, there.at(0),
                         there.key(), &writing) == 0);
        fi_ioc result{&fetched, 1};
        const fi_rma_ioc target{there.at(0), 1, there.key()};
        const fi_msg_atomic m =
            atomic_message(d.to_b, {}, {&target, 1}, FI_UINT64, FI_ATOMIC_READ, &fetching);
        REQUIRE(fi_fetch_atomicmsg(d.a.ep(), &m, &result, nullptr, 1, FI_FENCE | FI_COMPLETION) ==
                0);
        CHECK_FALSE(d.outcome(d.a, &fetching).error);
        CHECK(fetched == written);
        CHECK_FALSE(d.outcome(d.a, &writing).error);
    }
}

TEST_CASE("two endpoints add to one number, and no addition is lost or seen twice") {
    Duo d{kAtomicWishes};
    Watched other{kAtomicWishes};
    const fi_addr_t from_other = other.endpoint.insert(d.b.endpoint.name());
    Numbers<uint64_t> there{d.b, {0}};
    constexpr size_t kTimes = 3000;
    std::atomic<bool> over{false};
    std::jthread target{[&] {
        while (!over) {
            d.b.poll();
            sched_yield();
        }
    }};
    std::vector<uint64_t> theirs;
    std::jthread second{
        [&] { theirs = fetch_and_add(other, from_other, there.at(0), there.key(), kTimes); }};
    const auto ours = fetch_and_add(d.a, d.to_b, there.at(0), there.key(), kTimes);
    second.join();
    over = true;
    target.join();
    std::set<uint64_t> seen(ours.begin(), ours.end());
    seen.insert(theirs.begin(), theirs.end());
    CHECK(seen.size() == 2 * kTimes);
    CHECK(*seen.rbegin() == 2 * kTimes - 1);
    CHECK(there.all()[0] == 2 * kTimes);
    CHECK(std::ranges::is_sorted(ours)); // each sees its own in order
}

TEST_CASE("one memory behind two endpoints with domains and threads of their own") {
    Duo one{kAtomicWishes}, two{kAtomicWishes};
    alignas(16) std::complex<double> sum{};
    alignas(8) uint64_t product = 1;
    constexpr int kTimes = 2000;
    const auto add = [&](Duo& d) {
        fid_mr* raw[2] = {};
        REQUIRE(fi_mr_reg(d.b.endpoint.domain(), &sum, sizeof sum, FI_REMOTE_WRITE, 0, 0, 0,
                          &raw[0], nullptr) == 0);
        REQUIRE(fi_mr_reg(d.b.endpoint.domain(), &product, sizeof product, FI_REMOTE_WRITE, 0, 0, 0,
                          &raw[1], nullptr) == 0);
        const Owned<fid_mr> regions[2] = {Owned<fid_mr>{raw[0]}, Owned<fid_mr>{raw[1]}};
        const std::complex<double> term{1, 2};
        const uint64_t factor = 3;
        int context = 0;
        for (int i = 0; i < kTimes; ++i) {
            now(d, [&] {
                return fi_atomic(d.a.ep(), &term, 1, nullptr, d.to_b,
                                 reinterpret_cast<uint64_t>(&sum), fi_mr_key(raw[0]),
                                 FI_DOUBLE_COMPLEX, FI_SUM, &context);
            });
            now(d, [&] {
                return fi_atomic(d.a.ep(), &factor, 1, nullptr, d.to_b,
                                 reinterpret_cast<uint64_t>(&product), fi_mr_key(raw[1]), FI_UINT64,
                                 FI_PROD, &context);
            });
        }
        for (int i = 0; i < 2 * kTimes; ++i) REQUIRE_FALSE(d.outcome(d.a, &context).error);
    };
    std::jthread second{[&] { add(two); }};
    add(one);
    second.join();
    CHECK(sum == std::complex<double>{2.0 * kTimes, 4.0 * kTimes});
    uint64_t expected = 1;
    for (int i = 0; i < 2 * kTimes; ++i) expected *= 3;
    CHECK(product == expected);
}

TEST_CASE("processes add to one number of another's" * forks()) {
    struct Offer {
        uint64_t address, key;
    };
    constexpr size_t kTimes = 2000;
    const auto initiator = [](Board& board) {
        Far far{board, kAtomicWishes};
        board.await(3);
        Offer offer;
        std::memcpy(&offer, board.name, sizeof offer);
        const auto seen = fetch_and_add(far.side, far.peer, offer.address, offer.key, kTimes);
        board.step = std::ranges::is_sorted(seen) ? 4 : 5;
    };
    Child first{initiator}, second{initiator};
    Watched near{kAtomicWishes};
    Numbers<uint64_t> there{near, {0}};
    const Offer offer{there.at(0), there.key()};
    for (Child* child : {&first, &second}) meet(near, *child);
    for (Child* child : {&first, &second}) {
        std::memcpy(child->board->name, &offer, sizeof offer);
        child->board->step = 3;
    }
    const auto end = Clock::now() + kPatience;
    while (first.board->step < 4 || second.board->step < 4) {
        REQUIRE(Clock::now() < end);
        near.poll();
        sched_yield();
    }
    CHECK(first.board->step == 4);
    CHECK(second.board->step == 4);
    CHECK(there.all()[0] == 2 * kTimes);
}
