// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Atomic operations on eight bytes of the peer's memory.

#include "operations.hpp"

#include <atomic>
#include <cstring>
#include <thread>

using namespace rig;

namespace {

uint64_t& word(Region& region, size_t index = 0) {
    return reinterpret_cast<uint64_t*>(region.bytes.data())[index];
}

// Executes an atomic on the first word of b, into the first of a.
template <class Op>
void execute(Pair& p, uint64_t compare_add, uint64_t swap = 0) {
    Work w = work<Op>({p.ma.segment(0, 8)}, p.mb);
    w.compare_add = compare_add;
    w.swap = swap;
    REQUIRE(post(p.qa.get(), w) == 0);
    check_sent<Op>(p.a.sent(), p.qa, 8);
}

} // namespace

TEST_CASE("fetch and add gives the old value, and adds") {
    Pair p;
    word(p.mb) = 40;
    execute<FetchAdd>(p, 2);
    CHECK(word(p.ma) == 40);
    CHECK(word(p.mb) == 42);
    CHECK(all_zero(p.mb.bytes, 8, 4096));
    CHECK(all_zero(p.ma.bytes, 8, 4096));
}

TEST_CASE("fetch and add carries through all 64 bits, and wraps") {
    Pair p;
    word(p.mb) = 0x00000000ffffffff;
    execute<FetchAdd>(p, 1);
    CHECK(word(p.mb) == 0x100000000);
    execute<FetchAdd>(p, ~uint64_t{0});
    CHECK(word(p.mb) == 0xffffffff);
    word(p.mb) = ~uint64_t{0};
    execute<FetchAdd>(p, 3);
    CHECK(word(p.ma) == ~uint64_t{0});
    CHECK(word(p.mb) == 2);
}

TEST_CASE("compare and swap swaps what is equal") {
    Pair p;
    word(p.mb) = 0x1122334455667788;
    execute<CompareSwap>(p, 0x1122334455667788, 99);
    CHECK(word(p.ma) == 0x1122334455667788);
    CHECK(word(p.mb) == 99);
}

TEST_CASE("compare and swap leaves what is not equal, and tells it") {
    Pair p;
    word(p.mb) = 0x1122334455667788;
    execute<CompareSwap>(p, 0x1122334455667789, 99);
    CHECK(word(p.ma) == 0x1122334455667788);
    CHECK(word(p.mb) == 0x1122334455667788);
}

TEST_CASE("the old value can go to any address") {
    Pair p;
    word(p.mb, 3) = 0x0102030405060708;
    Work w = work<FetchAdd>({p.ma.segment(3, 8)}, p.mb, 24);
    w.compare_add = 1;
    REQUIRE(post(p.qa.get(), w) == 0);
    check_sent<FetchAdd>(p.a.sent(), p.qa, 8);
    uint64_t old = 0;
    std::memcpy(&old, p.ma.bytes.data() + 3, 8);
    CHECK(old == 0x0102030405060708);
    CHECK(word(p.mb, 3) == 0x0102030405060709);
}

TEST_CASE_TEMPLATE("an atomic of a misaligned address is refused", Op, FetchAdd, CompareSwap) {
    Pair p;
    const Work w = work<Op>({p.ma.segment(0, 8)}, p.mb, 4);
    if (differs(Differs::misaligned_atomic)) {
        CHECK(post(p.qa.get(), w) == EINVAL);
        return;
    }
    REQUIRE(post(p.qa.get(), w) == 0);
    CHECK(p.a.sent().status == IBV_WC_REM_INV_REQ_ERR);
    CHECK(all_zero(p.mb.bytes, 0, 64));
    await_state(p.qa.get(), IBV_QPS_ERR);
}

TEST_CASE("atomics of one queue pair are executed in order, between its other requests") {
    Pair p;
    std::vector<Work> list;
    for (uint64_t i = 0; i < 10; ++i) {
        list.push_back(work<FetchAdd>({p.ma.segment(i * 16, 8)}, p.mb));
        list.back().compare_add = 1;
        list.push_back(work<Read>({p.ma.segment(i * 16 + 8, 8)}, p.mb));
    }
    REQUIRE(post_list(p.qa.get(), list).error == 0);
    for (uint64_t i = 0; i < 10; ++i) {
        check_sent<FetchAdd>(p.a.sent(), p.qa, 8);
        check_sent<Read>(p.a.sent(), p.qa, 8);
    }
    for (uint64_t i = 0; i < 10; ++i) {
        CHECK(word(p.ma, i * 2) == i);
        CHECK(word(p.ma, i * 2 + 1) == i + 1);
    }
}

namespace {

constexpr uint64_t kRounds = 200;

// A connection to the side whose memory all work on.
struct Worker {
    explicit Worker(const Side& target)
        : peer{target.make_qp()} {
        connect(qp.get(), peer->qp_num);
        connect(peer.get(), qp->qp_num);
    }

    // Adds one as often as that, and waits for each; returns how often it could.
    template <class Op>
    uint64_t count_up(const Region& shared) {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        uint64_t value = 0, done = 0;
        while (done < kRounds) {
            Work w = work<Op>({result.segment(0, 8)}, shared);
            w.compare_add = Op::opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 1 : value;
            w.swap = value + 1;
            if (post(qp.get(), w)) break;
            std::optional<ibv_wc> wc;
            while (!(wc = poll(side.sends.get())) && std::chrono::steady_clock::now() < end)
                sched_yield();
            if (!wc || wc->status != IBV_WC_SUCCESS) break;
            const uint64_t old = word(result);
            if (Op::opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || old == value) ++done;
            value = old == value ? value + 1 : old;
        }
        return done;
    }

    Side side;
    Qp qp{side.make_qp()};
    Region result{side.pd, 8};
    Qp peer;
};

} // namespace

TEST_CASE_TEMPLATE("atomics of two threads lose nothing", Op, FetchAdd, CompareSwap) {
    const Side target;
    Region shared{target.pd, 8};
    Worker first{target}, second{target};
    std::atomic<uint64_t> done{0};
    std::thread one{[&] { done += first.count_up<Op>(shared); }};
    std::thread other{[&] { done += second.count_up<Op>(shared); }};
    one.join();
    other.join();
    CHECK(done == 2 * kRounds);
    CHECK(word(shared) == 2 * kRounds);
}
