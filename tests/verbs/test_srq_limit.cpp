// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The limit of a shared receive queue: an event, once, when fewer receives than that are left.

#include "events.hpp"
#include "operations.hpp"

using namespace rig;

namespace {

constexpr uint32_t kReceives = 8;

struct Limited {
    Limited() {
        connect(qa.get(), qb->qp_num);
        connect(qb.get(), qa->qp_num);
        post_receives(kReceives);
    }

    void post_receives(uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) REQUIRE(post_receive(srq.get(), {}) == 0);
    }

    // Takes receives away, by empty messages.
    void use(uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            REQUIRE(post(qa.get(), {}) == 0);
            CHECK(b.received().status == IBV_WC_SUCCESS);
            CHECK(a.sent().status == IBV_WC_SUCCESS);
        }
    }

    int arm(uint32_t limit) {
        ibv_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = limit};
        return ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT);
    }

    uint32_t limit() {
        ibv_srq_attr attr{};
        REQUIRE(ibv_query_srq(srq.get(), &attr) == 0);
        return attr.srq_limit;
    }

    void check_event() {
        const AsyncEvent event{b.context};
        CHECK(event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
        CHECK(event->element.srq == srq.get());
    }

    Side a, b;
    Srq srq{b.make_srq(kReceives)};
    Qp qa{a.make_qp()}, qb{b.make_qp({.srq = srq.get()})};
};

} // namespace

TEST_CASE("no limit, no event") {
    Limited l;
    CHECK(l.limit() == 0);
    l.use(kReceives);
    CHECK(no_event(l.b.context));
}

TEST_CASE("the limit is not reached while as many receives are left") {
    Limited l;
    REQUIRE(l.arm(5) == 0);
    CHECK(l.limit() == 5);
    l.use(3);
    CHECK(no_event(l.b.context));
    CHECK(l.limit() == 5);
}

TEST_CASE("the limit is reached when fewer receives are left, and is then no more") {
    Limited l;
    REQUIRE(l.arm(5) == 0);
    l.use(4);
    l.check_event();
    CHECK(l.limit() == 0);
    l.use(4);
    CHECK(no_event(l.b.context));
}

TEST_CASE("receives that are posted in time put the limit off") {
    Limited l;
    REQUIRE(l.arm(5) == 0);
    l.use(3);
    l.post_receives(3);
    l.use(3);
    CHECK(no_event(l.b.context));
    l.use(1);
    l.check_event();
}

TEST_CASE("the limit can be armed again, and tells again") {
    Limited l;
    for (int round = 0; round < 3; ++round) {
        REQUIRE(l.arm(7) == 0);
        l.use(1);
        CHECK(no_event(l.b.context));
        l.use(1);
        l.check_event();
        l.post_receives(2);
    }
}

TEST_CASE("the limit can be moved before it is reached") {
    Limited l;
    REQUIRE(l.arm(7) == 0);
    REQUIRE(l.arm(2) == 0);
    CHECK(l.limit() == 2);
    l.use(6);
    CHECK(no_event(l.b.context));
    l.use(1);
    l.check_event();
}

TEST_CASE("the limit can be disarmed") {
    Limited l;
    REQUIRE(l.arm(7) == 0);
    REQUIRE(l.arm(0) == 0);
    l.use(kReceives);
    CHECK(no_event(l.b.context));
}

// Whether the event comes with the arming or with the next receive, devices see differently.
TEST_CASE("a limit above what is left tells once, with the next receive at the latest") {
    Limited l;
    l.use(4);
    REQUIRE(l.arm(6) == 0);
    l.use(1);
    l.check_event();
    l.use(3);
    CHECK(no_event(l.b.context));
    CHECK(l.limit() == 0);
}

TEST_CASE("a limit beyond the size of the queue is refused") {
    Limited l;
    ibv_srq_attr attr{};
    REQUIRE(ibv_query_srq(l.srq.get(), &attr) == 0);
    CHECK(l.arm(attr.max_wr + 1) == EINVAL);
    CHECK(l.limit() == 0);
}

TEST_CASE("a shared receive queue is resized, with its receives, where the device can") {
    Limited l;
    ibv_srq_attr attr{.max_wr = 4 * kReceives, .max_sge = 0, .srq_limit = 0};
    const int error = ibv_modify_srq(l.srq.get(), &attr, IBV_SRQ_MAX_WR);
    if (!(device().attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE)) {
        CHECK(error != 0);
        l.use(kReceives);
        return;
    }
    REQUIRE(error == 0);
    REQUIRE(ibv_query_srq(l.srq.get(), &attr) == 0);
    CHECK(attr.max_wr >= 4 * kReceives);
    l.post_receives(3 * kReceives);
    l.use(4 * kReceives);
}
