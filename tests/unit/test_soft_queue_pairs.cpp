// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The life of the soft device's queue pairs: numbers, states, and peers that come and go.

#include "soft_rig.hpp"

#include <atomic>
#include <cstring>
#include <thread>

using namespace rig;

TEST_CASE("queue pair numbers are handed out in sequence") {
    Side side;
    const verbs::Qp first = side.make_qp(), second = side.make_qp(), third = side.make_qp();
    CHECK(second->qp_num == first->qp_num + 1);
    CHECK(third->qp_num == first->qp_num + 2);
}

TEST_CASE("a queue pair whose peer is gone fails its sends") {
    Pair p;
    p.qb = verbs::Qp{};
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {}) == 0);
    CHECK(p.a.wait().status == IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("a queue pair whose peer never connects fails its sends after its retries") {
    Side a, b;
    const verbs::Qp qa = a.make_qp(), qb = b.make_qp();
    a.connect(qa.get(), qb->qp_num);
    REQUIRE(b.to_init(qb.get()) == 0);
    char byte = 0;
    REQUIRE(a.post_send(qa.get(), {sge(&byte, 1, 0)}, {.flags = IBV_SEND_INLINE}) == 0);
    CHECK(a.wait().status == IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("who begins with another packet number than is expected is not let in") {
    Side a, b;
    const verbs::Qp qa = a.make_qp(), qb = b.make_qp();
    a.connect(qa.get(), qb->qp_num);
    REQUIRE(b.to_init(qb.get()) == 0);
    REQUIRE(b.to_rtr(qb.get(), qa->qp_num, 7) == 0);
    REQUIRE(b.to_rts(qb.get()) == 0);
    char in = 0, byte = 0;
    const verbs::Mr mr = b.register_memory(&in, 1, IBV_ACCESS_LOCAL_WRITE);
    REQUIRE(b.post_receive(1, &in, 1, mr->lkey) == 0);
    REQUIRE(a.post_send(qa.get(), {sge(&byte, 1, 0)}, {.flags = IBV_SEND_INLINE}) == 0);
    CHECK(a.wait().status == IBV_WC_RETRY_EXC_ERR);
    CHECK_FALSE(b.poll());
}

TEST_CASE("states change only as they may") {
    Side side;
    const verbs::Qp qp = side.make_qp();
    char byte = 0;
    CHECK(side.post_send(qp.get(), {sge(&byte, 1, 0)}, {.flags = IBV_SEND_INLINE}) == EINVAL);
    CHECK(side.to_rtr(qp.get(), 5) == EINVAL);
    CHECK(side.to_rts(qp.get()) == EINVAL);
    CHECK(side.to_init(qp.get()) == 0);
    CHECK(side.to_rts(qp.get()) == EINVAL);
    ibv_qp_attr incomplete{};
    incomplete.qp_state = IBV_QPS_RTR;
    CHECK(side.context().modify_qp(qp.get(), &incomplete, IBV_QP_STATE | IBV_QP_AV) == EINVAL);
    CHECK(side.to_rtr(qp.get(), qp->qp_num) == 0);
    CHECK(side.to_rts(qp.get()) == 0);
    ibv_qp_attr reset{};
    reset.qp_state = IBV_QPS_RESET;
    CHECK(side.context().modify_qp(qp.get(), &reset, IBV_QP_STATE) == 0);
    CHECK(side.to_init(qp.get()) == 0);
}

TEST_CASE("a queue pair can be its own peer") {
    Side side;
    const verbs::Qp qp = side.make_qp();
    side.connect(qp.get(), qp->qp_num);
    char from[4] = "abc", to[4] = "";
    const verbs::Mr mr = side.register_memory(to, sizeof to, IBV_ACCESS_LOCAL_WRITE);
    REQUIRE(side.post_receive(1, to, sizeof to, mr->lkey) == 0);
    REQUIRE(side.post_send(qp.get(), {sge(from, sizeof from, 0)}, {.flags = IBV_SEND_INLINE}) == 0);
    CHECK(side.wait().byte_len == 4);
    CHECK(std::strcmp(to, "abc") == 0);
}

TEST_CASE("completions of a queue pair that is gone are gone too, and its receives free") {
    Pair p{{.receives = 2}};
    for (uint64_t i = 0; i < 2; ++i)
        REQUIRE(p.b.post_receive(i, p.in_b.data(), 10, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {}) == 0);
    CHECK(p.b.post_receive(3, p.in_b.data(), 10, p.mb->lkey) == ENOMEM);
    p.qb = verbs::Qp{};
    CHECK_FALSE(p.b.poll());
    CHECK(p.b.post_receive(3, p.in_b.data(), 10, p.mb->lkey) == 0);
}

TEST_CASE("a queue pair goes while others look for it") {
    constexpr int kRounds = 300;
    Side owner;
    std::atomic<uint32_t> target{0};
    std::atomic<bool> over{false};
    std::atomic<int> found{0};
    std::thread seeker{[&] {
        Side side;
        while (!over) {
            const uint32_t number = target;
            const verbs::Qp qp = side.make_qp();
            // It is there, or it is not: what must not happen is that it is read while it goes.
            const bool looked =
                number != 0 && side.to_init(qp.get()) == 0 && side.to_rtr(qp.get(), number) == 0;
            if (looked) ++found;
        }
    }};
    for (int round = 0; round < kRounds || found < kRounds; ++round) {
        const verbs::Qp qp = owner.make_qp();
        if (!qp) break;
        target = qp->qp_num;
        sched_yield();
    }
    over = true;
    seeker.join();
    CHECK(found >= kRounds);
}
