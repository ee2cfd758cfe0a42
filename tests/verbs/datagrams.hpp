// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What test cases of datagrams have in common.

#include "operations.hpp"

#include <cstring>

namespace rig {

inline constexpr size_t kGrh = 40;
inline constexpr QpNeeds kDatagrams{.type = IBV_QPT_UD};

inline Ah make_ah(const Side& side) {
    ibv_ah_attr attr = device().path;
    Ah ah{ibv_create_ah(side.pd.get(), &attr)};
    REQUIRE(ah);
    return ah;
}

// Two queue pairs for datagrams, and the way from a to b.
struct Datagrams {
    Datagrams() {
        ready_for_datagrams(qa.get());
        ready_for_datagrams(qb.get());
        ma.fill(1);
    }

    Work to(const Qp& qp, size_t size) const {
        return {.id = kSendId,
                .segments = {ma.segment(0, size)},
                .ah = ah.get(),
                .qpn = qp->qp_num,
                .qkey = kQkey};
    }
    Work datagram(size_t size) const { return to(qb, size); }

    void post_receive_at_b(uint64_t id = kReceiveId) {
        REQUIRE(post_receive(qb.get(), {.id = id, .segments = {mb.segment(0, kGrh + 5000)}}) == 0);
    }

    void send(const Work& w) {
        REQUIRE(post(qa.get(), w) == 0);
        check_sent<Send>(a.sent(), qa, 0);
    }

    void check_received(size_t size, uint64_t id = kReceiveId) {
        const ibv_wc wc = b.received();
        CHECK(wc.status == IBV_WC_SUCCESS);
        CHECK(wc.wr_id == id);
        CHECK(wc.opcode == IBV_WC_RECV);
        CHECK(wc.byte_len == kGrh + size);
        CHECK(wc.qp_num == qb->qp_num);
        CHECK(wc.src_qp == qa->qp_num);
        CHECK((wc.wc_flags & IBV_WC_GRH) != 0);
        CHECK((wc.wc_flags & IBV_WC_WITH_IMM) == 0);
        CHECK(std::memcmp(mb.bytes.data() + kGrh, ma.bytes.data(), size) == 0);
        CHECK(all_zero(mb.bytes, kGrh + size, mb.bytes.size()));
    }

    Side a, b;
    Qp qa{a.make_qp(kDatagrams)}, qb{b.make_qp(kDatagrams)};
    Region ma{a.pd, 16384}, mb{b.pd, 16384};
    Ah ah{make_ah(a)};
};

} // namespace rig
