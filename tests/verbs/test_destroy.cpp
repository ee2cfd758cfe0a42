// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What others still use cannot be destroyed, and stays whole.

#include "operations.hpp"

using namespace rig;

namespace {

void check_busy(const Pd& pd) { CHECK(ibv_dealloc_pd(pd.get()) == EBUSY); }

} // namespace

TEST_CASE("a protection domain outlives its regions") {
    const Side side;
    const Region region{side.pd, 64};
    check_busy(side.pd);
}

TEST_CASE("a protection domain outlives its queue pairs") {
    Pair p;
    p.ma.mr.reset();
    check_busy(p.a.pd);
    p.ma.mr = register_memory(p.a.pd, p.ma.bytes.data(), p.ma.bytes.size(), kAllAccess);
    REQUIRE(p.ma.mr);
    move_bytes<Send>(p, 100);
}

TEST_CASE("a protection domain outlives its shared receive queues") {
    const Side side;
    const Srq srq = side.make_srq();
    check_busy(side.pd);
    CHECK(post_receive(srq.get(), {}) == 0);
}

TEST_CASE("a protection domain outlives its addresses") {
    const Side side;
    ibv_ah_attr attr = device().path;
    const Ah ah{ibv_create_ah(side.pd.get(), &attr)};
    REQUIRE(ah);
    check_busy(side.pd);
}

TEST_CASE("completion queues outlive their queue pairs") {
    Pair p;
    CHECK(ibv_destroy_cq(p.a.sends.get()) == EBUSY);
    CHECK(ibv_destroy_cq(p.a.receives.get()) == EBUSY);
    move_bytes<SendWithImm>(p, 100);
}

TEST_CASE("a shared receive queue outlives its queue pairs") {
    const Side side;
    const Srq srq = side.make_srq();
    const Qp qp = side.make_qp({.srq = srq.get()});
    CHECK(ibv_destroy_srq(srq.get()) == EBUSY);
    connect(qp.get(), qp->qp_num);
    REQUIRE(post_receive(srq.get(), {.id = kReceiveId}) == 0);
    REQUIRE(post(qp.get(), {.id = kSendId}) == 0);
    check_received<Send>(side.received(), qp, 0);
}

TEST_CASE("a completion channel outlives its completion queues") {
    const Side side;
    CHECK(ibv_destroy_comp_channel(side.channel.get()) == EBUSY);
}

TEST_CASE("a peer's registered memory can go while the connection stays") {
    Pair p;
    p.mb.mr.reset();
    p.mb.mr = register_memory(p.b.pd, p.mb.bytes.data(), p.mb.bytes.size(), kAllAccess);
    REQUIRE(p.mb.mr);
    move_bytes<Write>(p, 5000);
}
