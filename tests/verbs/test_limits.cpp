// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a device says it can do, and what it makes of wishes up to that and beyond.

#include "rig.hpp"

#include <cstring>
#include <set>

using namespace rig;

namespace {

constexpr ibv_qp_cap kSmall{
    .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};

ibv_qp_init_attr wish(const Side& side, const ibv_qp_cap& cap) {
    ibv_qp_init_attr init{};
    init.send_cq = side.sends.get();
    init.recv_cq = side.receives.get();
    init.qp_type = IBV_QPT_RC;
    init.cap = cap;
    return init;
}

void check_refused(const Side& side, const ibv_qp_cap& cap) {
    ibv_qp_init_attr init = wish(side, cap);
    errno = 0;
    const Qp qp{ibv_create_qp(side.pd.get(), &init)};
    CHECK(qp == nullptr);
    CHECK(errno == EINVAL);
}

void check_granted(const Side& side, const ibv_qp_cap& cap) {
    ibv_qp_init_attr init = wish(side, cap);
    const Qp qp{ibv_create_qp(side.pd.get(), &init)};
    REQUIRE(qp);
    // What is written back is what can be used.
    const ibv_qp_cap told = query(qp.get()).cap;
    for (const ibv_qp_cap& got : {init.cap, told}) {
        CHECK(got.max_send_wr >= cap.max_send_wr);
        CHECK(got.max_recv_wr >= cap.max_recv_wr);
        CHECK(got.max_send_sge >= cap.max_send_sge);
        CHECK(got.max_recv_sge >= cap.max_recv_sge);
        CHECK(got.max_inline_data >= cap.max_inline_data);
    }
}

void check_srq_refused(const Side& side, uint32_t receives, uint32_t segments) {
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = receives, .max_sge = segments, .srq_limit = 0};
    errno = 0;
    const Srq srq{ibv_create_srq(side.pd.get(), &init)};
    CHECK(srq == nullptr);
    CHECK(errno == EINVAL);
}

} // namespace

TEST_CASE("a queue pair can be as modest as can be") { check_granted(Side{}, kSmall); }

TEST_CASE("a queue pair gets at least what it asks for") {
    check_granted(Side{}, {.max_send_wr = 100,
                           .max_recv_wr = 77,
                           .max_send_sge = 3,
                           .max_recv_sge = 5,
                           .max_inline_data = 100});
}

TEST_CASE("a queue pair gets as many segments as the device says it has") {
    ibv_qp_cap cap = kSmall;
    cap.max_send_sge = cap.max_recv_sge = uint32_t(device().attr.max_sge);
    check_granted(Side{}, cap);
}

TEST_CASE("more requests than the device says it has are refused") {
    ibv_qp_cap cap = kSmall;
    cap.max_send_wr = uint32_t(device().attr.max_qp_wr) + 1;
    check_refused(Side{}, cap);
    cap = kSmall;
    cap.max_recv_wr = uint32_t(device().attr.max_qp_wr) + 1;
    check_refused(Side{}, cap);
}

TEST_CASE("more segments than the device says it has are refused") {
    ibv_qp_cap cap = kSmall;
    cap.max_send_sge = uint32_t(device().attr.max_sge) + 1;
    check_refused(Side{}, cap);
    cap = kSmall;
    cap.max_recv_sge = uint32_t(device().attr.max_sge) + 1;
    check_refused(Side{}, cap);
}

TEST_CASE("more inline data than any device has is refused") {
    ibv_qp_cap cap = kSmall;
    cap.max_inline_data = 1 << 20;
    check_refused(Side{}, cap);
}

TEST_CASE("queue pairs have numbers of their own, in 24 bits") {
    const Side a, b;
    std::vector<Qp> qps;
    std::set<uint32_t> numbers;
    for (int i = 0; i < 20; ++i) {
        qps.push_back((i % 2 ? a : b).make_qp());
        numbers.insert(qps.back()->qp_num);
        CHECK(qps.back()->qp_num < 1 << 24);
    }
    CHECK(numbers.size() == 20);
    CHECK(*numbers.begin() > 1); // those of management
}

TEST_CASE("completion queues are at least as long as asked for") {
    const Side side;
    for (const int size : {1, 2, 100, device().attr.max_cqe}) {
        const Cq cq{ibv_create_cq(side.context.get(), size, nullptr, nullptr, 0)};
        REQUIRE(cq);
        CHECK(cq->cqe >= size);
    }
}

TEST_CASE("completion queues of no length, or too much, are refused") {
    const Side side;
    for (const int size : {0, device().attr.max_cqe + 1}) {
        errno = 0;
        const Cq cq{ibv_create_cq(side.context.get(), size, nullptr, nullptr, 0)};
        CHECK(cq == nullptr);
        CHECK(errno == EINVAL);
    }
}

TEST_CASE("a shared receive queue gets at least what it asks for") {
    const Side side;
    const auto segments = uint32_t(device().attr.max_srq_sge);
    for (const uint32_t receives : {1, 5, 1000}) {
        const Srq srq = side.make_srq(receives, segments);
        ibv_srq_attr attr{};
        REQUIRE(ibv_query_srq(srq.get(), &attr) == 0);
        CHECK(attr.max_wr >= receives);
        CHECK(attr.max_sge >= segments);
        CHECK(attr.srq_limit == 0);
    }
}

TEST_CASE("shared receive queues of no length, or too much, are refused") {
    const Side side;
    check_srq_refused(side, 0, 1);
    check_srq_refused(side, uint32_t(device().attr.max_srq_wr) + 1, 1);
    check_srq_refused(side, 1, uint32_t(device().attr.max_srq_sge) + 1);
}

TEST_CASE("a device tells of limits one can work with") {
    const ibv_device_attr& attr = device().attr;
    CHECK(attr.max_qp >= 1000);
    CHECK(attr.max_qp_wr >= 1000);
    CHECK(attr.max_sge >= 4);
    CHECK(attr.max_cq >= 1000);
    CHECK(attr.max_cqe >= 1000);
    CHECK(attr.max_mr >= 1000);
    CHECK(attr.max_pd >= 100);
    CHECK(attr.max_ah >= 100);
    CHECK(attr.max_srq >= 100);
    CHECK(attr.max_srq_wr >= 1000);
    CHECK(attr.max_srq_sge >= 1);
    CHECK(attr.max_qp_rd_atom >= 1);
    CHECK(attr.max_qp_init_rd_atom >= 1);
    CHECK(attr.atomic_cap != IBV_ATOMIC_NONE);
    CHECK(attr.phys_port_cnt >= 1);
    CHECK(attr.max_pkeys >= 1);
}

TEST_CASE("a port tells that it is up, and how it is reached") {
    const ibv_port_attr& port = device().port;
    CHECK(port.state == IBV_PORT_ACTIVE);
    CHECK(port.active_mtu >= IBV_MTU_1024);
    CHECK(port.active_mtu <= port.max_mtu);
    CHECK(port.max_msg_sz >= 1 << 20);
    CHECK(port.gid_tbl_len >= 1);
    CHECK(port.pkey_tbl_len >= 1);
    const Side side;
    ibv_gid gid{};
    REQUIRE(ibv_query_gid(side.context.get(), kPort, device().path.grh.sgid_index, &gid) == 0);
    CHECK(std::memcmp(&gid, &device().path.grh.dgid, sizeof gid) == 0);
    __be16 pkey = 0;
    REQUIRE(ibv_query_pkey(side.context.get(), kPort, 0, &pkey) == 0);
    CHECK((pkey & htobe16(0x7fff)) == htobe16(0x7fff));
}

TEST_CASE("a port that is not there tells nothing") {
    const Side side;
    ibv_port_attr attr{};
    CHECK(ibv_query_port(side.context.get(), 0, &attr) != 0);
    CHECK(ibv_query_port(side.context.get(), device().attr.phys_port_cnt + 1, &attr) != 0);
}

TEST_CASE("a device says what its requests may be made of") {
    const ibv_device_attr& attr = device().attr;
    CHECK((attr.page_size_cap & 4096) != 0);
    CHECK(attr.max_sge_rd > 0);
    CHECK(attr.max_sge_rd <= attr.max_sge);
    CHECK((attr.device_cap_flags & IBV_DEVICE_RC_RNR_NAK_GEN) != 0);
    CHECK(attr.max_qp_rd_atom > 0);
    CHECK(attr.max_res_rd_atom >= attr.max_qp_rd_atom);
}
