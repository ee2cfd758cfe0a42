// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Writes that are over when the call returns, or were not done (verbs::kDeliver).

#include "soft_rig.hpp"
#include "softrc/faults.hpp"

#include <cerrno>
#include <cstring>

using namespace rig;

namespace {

// What it gives to deliver a number to the beginning of the other side's memory.
int deliver(Pair& p, uint64_t number, uint32_t wrong = 0) {
    return p.a.post_send(p.qa.get(), {sge(&number, sizeof number, 0)},
                         {.opcode = IBV_WR_RDMA_WRITE,
                          .flags = IBV_SEND_INLINE | verbs::kDeliver,
                          .remote = reinterpret_cast<uint64_t>(p.in_b.data()),
                          .rkey = p.mb->rkey + wrong});
}

uint64_t found(const Pair& p) {
    uint64_t number = 0;
    std::memcpy(&number, p.in_b.data(), sizeof number);
    return number;
}

// The device says it of itself.
bool delivers() { return soft_device().port().delivers; }

} // namespace

TEST_CASE("a delivered write is there when the call returns, and takes no room") {
    Pair p;
    CHECK(delivers() == !soft::kFaults);
    for (uint64_t i = 1; i <= 100 && delivers(); ++i) { // the send queue has room for 32
        REQUIRE(deliver(p, i) == 0);
        CHECK(found(p) == i);
    }
    CHECK_FALSE(p.a.poll());
    REQUIRE(p.b.post_receive(1, p.in_b.data() + 64, 64, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {.id = 7}) == 0);
    CHECK(p.a.wait().wr_id == 7);
}

TEST_CASE("nothing is delivered before what waits") {
    Pair p;
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {.id = 1}) == 0);
    CHECK(deliver(p, 5) == EAGAIN);
    CHECK(found(p) == 0);
    REQUIRE(p.b.post_receive(1, p.in_b.data() + 64, 64, p.mb->lkey) == 0);
    CHECK(p.a.wait().wr_id == 1);
    CHECK(deliver(p, 5) == (delivers() ? 0 : EAGAIN));
}

TEST_CASE("what cannot be delivered breaks nothing") {
    Pair p;
    CHECK(deliver(p, 5, 1000) == EAGAIN);
    CHECK_FALSE(p.a.poll());
    CHECK(deliver(p, 6) == (delivers() ? 0 : EAGAIN));
    REQUIRE(p.b.to_error(p.qb.get()) == 0);
    CHECK(deliver(p, 7) == EAGAIN);
    CHECK(found(p) == (delivers() ? 6 : 0));
    CHECK_FALSE(p.a.poll());
}
