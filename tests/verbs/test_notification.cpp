// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Completion channels: which completions wake, whom, and how often.

#include "events.hpp"
#include "operations.hpp"

#include <thread>

using namespace rig;

namespace {

// Sends an empty message, and waits until it is received.
void message(Pair& p, unsigned flags = 0) {
    REQUIRE(post_receive(p.qb.get(), {}) == 0);
    REQUIRE(post(p.qa.get(), {.flags = IBV_SEND_SIGNALED | flags}) == 0);
    CHECK(p.b.received().status == IBV_WC_SUCCESS);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
}

void ask(const Cq& cq, bool solicited_only = false) {
    REQUIRE(ibv_req_notify_cq(cq.get(), solicited_only) == 0);
}

} // namespace

TEST_CASE("who does not ask is not told") {
    Pair p;
    message(p, IBV_SEND_SOLICITED);
    CHECK(no_event(p.b.channel));
}

TEST_CASE("the next completion tells, once") {
    Pair p;
    ask(p.b.receives);
    CHECK(no_event(p.b.channel));
    message(p);
    message(p);
    void* context = nullptr;
    CHECK(next_event(p.b.channel, &context) == p.b.receives.get());
    CHECK(context == &p.b);
    message(p);
    CHECK(no_event(p.b.channel));
}

TEST_CASE("who asks again is told again") {
    Pair p;
    for (int i = 0; i < 5; ++i) {
        ask(p.b.receives);
        message(p);
        CHECK(next_event(p.b.channel) == p.b.receives.get());
    }
    CHECK(no_event(p.b.channel));
}

TEST_CASE("what came before the question does not tell") {
    Pair p;
    REQUIRE(post_receive(p.qb.get(), {}) == 0);
    REQUIRE(post(p.qa.get(), {}) == 0);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
    ask(p.b.receives);
    CHECK(no_event(p.b.channel));
    CHECK(p.b.received().status == IBV_WC_SUCCESS);
    message(p);
    CHECK(next_event(p.b.channel) == p.b.receives.get());
}

TEST_CASE("a send tells its sender") {
    Pair p;
    ask(p.a.sends);
    message(p);
    CHECK(next_event(p.a.channel) == p.a.sends.get());
    CHECK(no_event(p.b.channel));
}

TEST_CASE("two completion queues of one channel each tell for themselves") {
    Pair p;
    ask(p.a.sends);
    ask(p.a.receives);
    message(p);
    CHECK(next_event(p.a.channel) == p.a.sends.get());
    CHECK(no_event(p.a.channel));
    REQUIRE(post_receive(p.qa.get(), {}) == 0);
    REQUIRE(post(p.qb.get(), {}) == 0);
    CHECK(next_event(p.a.channel) == p.a.receives.get());
}

TEST_CASE_TEMPLATE("who asks for solicited completions is not told of others", Op, Send,
                   SendWithImm, WriteWithImm) {
    Pair p;
    ask(p.b.receives, true);
    for (int i = 0; i < 3; ++i) {
        post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, 8)});
        Work w = work<Op>({p.ma.segment(0, 8)}, p.mb);
        if (i == 1) w.flags |= IBV_SEND_SOLICITED;
        REQUIRE(post(p.qa.get(), w) == 0);
        check_received<Op>(p.b.received(), p.qb, 8);
        if (i == 1) CHECK(next_event(p.b.channel) == p.b.receives.get());
        CHECK(no_event(p.b.channel));
    }
}

TEST_CASE("who asks for any completion is told of solicited ones") {
    Pair p;
    ask(p.b.receives);
    message(p, IBV_SEND_SOLICITED);
    CHECK(next_event(p.b.channel) == p.b.receives.get());
}

TEST_CASE("of two questions the wider one counts") {
    for (const bool solicited_first : {true, false}) {
        Pair p;
        ask(p.b.receives, solicited_first);
        ask(p.b.receives, !solicited_first);
        message(p);
        CHECK(next_event(p.b.channel) == p.b.receives.get());
        message(p, IBV_SEND_SOLICITED);
        CHECK(no_event(p.b.channel));
    }
}

TEST_CASE("a send that succeeds is not solicited") {
    Pair p;
    ask(p.a.sends, true);
    message(p, IBV_SEND_SOLICITED);
    CHECK(no_event(p.a.channel));
}

TEST_CASE("a flushed receive is solicited") {
    Pair p;
    ask(p.b.receives, true);
    REQUIRE(post_receive(p.qb.get(), {}) == 0);
    REQUIRE(modify(p.qb.get(), to(IBV_QPS_ERR)) == 0);
    CHECK(next_event(p.b.channel) == p.b.receives.get());
}

TEST_CASE("a send that fails is solicited") {
    Pair p{{.path = {.rnr_retries = 0}}};
    ask(p.a.sends, true);
    REQUIRE(post(p.qa.get(), {}) == 0);
    CHECK(p.a.sent().status == IBV_WC_RNR_RETRY_EXC_ERR);
    if (differs(Differs::failed_send_solicited)) {
        CHECK(no_event(p.a.channel));
    } else {
        CHECK(next_event(p.a.channel) == p.a.sends.get());
    }
}

TEST_CASE("a sleeper is woken") {
    Pair p;
    ask(p.b.receives);
    REQUIRE(post_receive(p.qb.get(), {}) == 0);
    int error = -1;
    std::thread sender{[&] { error = post(p.qa.get(), {}); }};
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    const int result = ibv_get_cq_event(p.b.channel.get(), &cq, &context);
    sender.join();
    CHECK(error == 0);
    REQUIRE(result == 0);
    CHECK(cq == p.b.receives.get());
    ibv_ack_cq_events(cq, 1);
    CHECK(p.b.received().status == IBV_WC_SUCCESS);
}

TEST_CASE("a channel can be asked without waiting") {
    const Side side;
    REQUIRE(fcntl(side.channel->fd, F_SETFL, O_NONBLOCK) == 0);
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    CHECK(ibv_get_cq_event(side.channel.get(), &cq, &context) == -1);
    CHECK(errno == EAGAIN);
}

TEST_CASE("a context can be asked for events without waiting") {
    const Side side;
    REQUIRE(fcntl(side.context->async_fd, F_SETFL, O_NONBLOCK) == 0);
    ibv_async_event event{};
    CHECK(ibv_get_async_event(side.context.get(), &event) == -1);
    CHECK(errno == EAGAIN);
}

TEST_CASE("a completion queue that is destroyed takes its event with it") {
    Pair p;
    ask(p.b.receives);
    message(p);
    CHECK_FALSE(no_event(p.b.channel));
    p.qb.reset();
    p.b.receives.reset();
    CHECK(no_event(p.b.channel));
}

TEST_CASE("events can be acknowledged many at once") {
    Pair p;
    for (int i = 0; i < 3; ++i) {
        ask(p.b.receives);
        message(p);
        ibv_cq* cq = nullptr;
        void* context = nullptr;
        REQUIRE(readable(p.b.channel->fd, kPatience));
        REQUIRE(ibv_get_cq_event(p.b.channel.get(), &cq, &context) == 0);
    }
    ibv_ack_cq_events(p.b.receives.get(), 3);
    // Until all are acknowledged, the queue cannot be destroyed.
    p.qb.reset();
    p.b.receives.reset();
}
