// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// A receive queue becomes deeper when the device tells that it runs low, and shallower when much
// has come and it did not.

#include "wireup_rig.hpp"

#include "verbs_rc/work_id.hpp"

#include <doctest/doctest.h>
#include <thread>

using namespace rig;

namespace {

// A queue pair that sends into the queue, and the one over which it does.
struct Pair : Room {
    Pair() { join(from, to); }
    ~Pair() { take_in(); }

    void send(int count) {
        for (int i = 0; i < count; ++i) {
            ibv_send_wr wr{}, *bad = nullptr;
            wr.wr_id = verbs::WorkId{verbs::WorkKind::send, this, 0}.bits();
            wr.opcode = IBV_WR_SEND;
            wr.send_flags = IBV_SEND_SIGNALED;
            REQUIRE(ibv_post_send(from.get(), &wr, &bad) == 0);
        }
    }
    // Gives back what has come, and posts receives in its place. True if these are fewer now.
    bool take_in() {
        bool fewer = false;
        ibv_wc wc;
        while (ibv_poll_cq(cq.get(), 1, &wc) == 1) {
            const verbs::WorkId id{wc.wr_id};
            if (id.kind() != verbs::WorkKind::receive) continue;
            queue.give_back(id.object<srq::Buffer>());
            fewer |= queue.refill();
        }
        return fewer;
    }
    bool tells() {
        for (int i = 0; i < 5000; ++i) {
            if (queue.runs_low()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return false;
    }

    srq::ReceiveQueue queue{adapter, counters, 256, {16, 64}};
    verbs::Cq cq{adapter.context(), adapter.context().create_cq(512, nullptr, nullptr)};
    verbs::QueuePair from{adapter, cq.get(), queue.get(), {64, 1}, kAccess};
    verbs::QueuePair to{adapter, cq.get(), queue.get(), {64, 1}, kAccess};
};

} // namespace

TEST_CASE("a receive queue is as deep as it has to be") {
    Pair p;
    const uint64_t at_first = p.counters.registered_bytes;
    p.send(12); // a quarter is left
    CHECK_FALSE(p.queue.runs_low());
    p.send(1);
    REQUIRE(p.tells());
    CHECK_FALSE(p.queue.runs_low()); // once
    p.queue.deepen();
    CHECK(p.queue.depth() == 32);
    CHECK(p.counters.registered_bytes > at_first);
    p.take_in();
    p.queue.deepen();
    p.queue.deepen();
    CHECK(p.queue.depth() == 64);

    int sent = 0;
    for (; p.queue.depth() > 16 && sent < 100'000; sent += 8) {
        p.send(8);
        p.take_in();
    }
    CHECK(p.queue.depth() == 16);
    CHECK(sent >= 3 * 4096); // 16 fewer each time
    for (int i = 0; i < 100; ++i) {
        p.send(8);
        p.take_in();
    }
    CHECK(p.counters.registered_bytes == at_first);
}
