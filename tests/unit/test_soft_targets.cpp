// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Short writes into a region that was written to before: its sender need not look it up again, as
// long as it is what it was.

#include "soft_rig.hpp"

#include <cstring>

using namespace rig;

namespace {

constexpr int kWritten = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

// How a short write of a number ends.
ibv_wc_status write(Pair& p, uint64_t number, const void* to, uint32_t rkey) {
    REQUIRE(p.a.post_send(p.qa.get(), {sge(&number, sizeof number, 0)},
                          {.opcode = IBV_WR_RDMA_WRITE,
                           .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
                           .remote = reinterpret_cast<uint64_t>(to),
                           .rkey = rkey}) == 0);
    return p.a.wait().status;
}

uint64_t number_at(const void* address) {
    uint64_t number = 0;
    std::memcpy(&number, address, sizeof number);
    return number;
}

} // namespace

TEST_CASE("a connection says where the peer's memory is seen, if that may be written to") {
    Pair p;
    const auto seen = [&p](const void* address, uint32_t rkey, size_t length) {
        return p.a.context().peer_memory(p.qa.get(), reinterpret_cast<uint64_t>(address), rkey,
                                         length);
    };
    const auto* memory = reinterpret_cast<const std::byte*>(p.in_b.data());
    CHECK(seen(memory + 8, p.mb->rkey, 100) == memory + 8);
    CHECK(seen(memory + 8, p.mb->rkey, p.in_b.size()) == nullptr);
    CHECK(seen(memory + 8, p.mb->rkey, SIZE_MAX) == nullptr);
    CHECK(seen(memory + 8, p.mb->rkey + 1, 100) == nullptr);
    verbs::Mr read = p.b.register_memory(p.in_b.data(), 4096, IBV_ACCESS_REMOTE_READ);
    CHECK(seen(memory + 8, read->rkey, 100) == nullptr);
    CHECK_FALSE(p.a.poll());
    REQUIRE(p.b.to_error(p.qb.get()) == 0);
    CHECK(seen(memory + 8, p.mb->rkey, 100) == nullptr);
}

TEST_CASE("short writes find their places in a region, to its last byte") {
    Pair p;
    char* const last = p.in_b.data() + p.in_b.size() - 8;
    REQUIRE(write(p, 1, p.in_b.data(), p.mb->rkey) == IBV_WC_SUCCESS);
    CHECK(write(p, 2, last, p.mb->rkey) == IBV_WC_SUCCESS);
    CHECK(number_at(p.in_b.data()) == 1);
    CHECK(number_at(last) == 2);
    CHECK(write(p, 3, last + 1, p.mb->rkey) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a short write before a region that was written to is refused") {
    Pair p;
    verbs::Mr half = p.b.register_memory(p.in_b.data() + 4096, 4096, kWritten);
    REQUIRE(write(p, 1, p.in_b.data() + 4096, half->rkey) == IBV_WC_SUCCESS);
    CHECK(write(p, 2, p.in_b.data() + 4095, half->rkey) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("writes into two regions in turn reach both") {
    Pair p;
    verbs::Mr other = p.b.register_memory(p.in_b.data() + 4096, 4096, kWritten);
    for (uint64_t i = 1; i <= 10; ++i) {
        REQUIRE(write(p, i, p.in_b.data(), p.mb->rkey) == IBV_WC_SUCCESS);
        REQUIRE(write(p, 100 + i, p.in_b.data() + 4096, other->rkey) == IBV_WC_SUCCESS);
        CHECK(number_at(p.in_b.data()) == i);
        CHECK(number_at(p.in_b.data() + 4096) == 100 + i);
    }
}

TEST_CASE("a region that was written to and is given up is written to no more") {
    Pair p;
    verbs::Mr region = p.b.register_memory(p.in_b.data() + 4096, 4096, kWritten);
    const uint32_t key = region->rkey;
    REQUIRE(write(p, 1, p.in_b.data() + 4096, key) == IBV_WC_SUCCESS);
    region = {};
    CHECK(write(p, 2, p.in_b.data() + 4096, key) == IBV_WC_REM_ACCESS_ERR);
    CHECK(number_at(p.in_b.data() + 4096) == 1);
}

// Keys come round: of the same number there are others after some hundred regions.
TEST_CASE("what was known of a region does not hold for a later one of the same key") {
    Pair p;
    verbs::Mr region = p.b.register_memory(p.in_b.data() + 4096, 4096, kWritten);
    const uint32_t key = region->rkey;
    REQUIRE(write(p, 1, p.in_b.data() + 4096, key) == IBV_WC_SUCCESS);
    for (int i = 0; i < 1000; ++i) {
        region = {};
        region = p.b.register_memory(p.in_b.data() + 8192, 4096, kWritten);
        if (region->rkey == key) break;
    }
    REQUIRE(region->rkey == key);
    CHECK(write(p, 2, p.in_b.data() + 4096, key) == IBV_WC_REM_ACCESS_ERR);
    CHECK(number_at(p.in_b.data() + 4096) == 1);
}

TEST_CASE("a peer that lets nobody write any more is not written to") {
    Pair p;
    REQUIRE(write(p, 1, p.in_b.data(), p.mb->rkey) == IBV_WC_SUCCESS);
    ibv_qp_attr attr{};
    attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
    REQUIRE(p.b.context().modify_qp(p.qb.get(), &attr, IBV_QP_ACCESS_FLAGS) == 0);
    CHECK(write(p, 2, p.in_b.data(), p.mb->rkey) == IBV_WC_REM_INV_REQ_ERR);
    CHECK(number_at(p.in_b.data()) == 1);
}
