// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What each operation of a connection moves, and how its completions look.

#include "operations.hpp"

#include <algorithm>
#include <cstring>

using namespace rig;

TEST_CASE_TEMPLATE("one byte arrives, and so do messages around the MTU of the path", Op, Send,
                   SendWithImm, Write, WriteWithImm, Read) {
    for (const size_t size : {1, 1023, 1024, 1025, 4096, 4097}) {
        CAPTURE(size);
        Pair p;
        move_bytes<Op>(p, size);
    }
}

TEST_CASE_TEMPLATE("a megabyte arrives", Op, Send, SendWithImm, Write, WriteWithImm, Read) {
    Pair p{{.path = {.mtu = IBV_MTU_4096}, .bytes = (1 << 20) + 100}};
    move_bytes<Op>(p, 1 << 20);
}

TEST_CASE_TEMPLATE("nothing can be moved, and no key is looked at for it", Op, Send, SendWithImm,
                   Write, WriteWithImm, Read) {
    Pair p;
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, 100)});
    Work w = work<Op>({}, p.mb);
    w.rkey = 0;
    w.remote = 0;
    REQUIRE(post(p.qa.get(), w) == 0);
    if (Op::receives) check_received<Op>(p.b.received(), p.qb, 0);
    check_sent<Op>(p.a.sent(), p.qa, 0);
    CHECK(all_zero(p.mb.bytes, 0, p.mb.bytes.size()));
}

TEST_CASE_TEMPLATE("as many segments as the device takes", Op, Send, SendWithImm, Write,
                   WriteWithImm, Read) {
    const auto most = uint32_t(device().attr.max_sge);
    Pair p{{.qp = {.cap = {.max_send_wr = 4,
                           .max_recv_wr = 4,
                           .max_send_sge = most,
                           .max_recv_sge = most,
                           .max_inline_data = 0}}}};
    // Each segment is one byte longer than the one before, and a byte apart from it.
    std::vector<ibv_sge> segments;
    size_t end = 0, size = 0;
    for (uint32_t i = 0; i < most; ++i) {
        segments.push_back(p.ma.segment(end, i + 1));
        end += i + 2;
        size += i + 1;
    }
    (Op::fetches ? p.mb : p.ma).fill(1);
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, size)});
    REQUIRE(post(p.qa.get(), work<Op>(segments, p.mb)) == 0);
    if (Op::receives) check_received<Op>(p.b.received(), p.qb, size);
    check_sent<Op>(p.a.sent(), p.qa, size);
    const char* contiguous = p.mb.bytes.data();
    for (const ibv_sge& s : segments) {
        const char* part = p.ma.bytes.data() + (s.addr - p.ma.address());
        CHECK(std::memcmp(part, contiguous, s.length) == 0);
        contiguous += s.length;
    }
}

TEST_CASE_TEMPLATE("inline data is taken at once, from memory without a key", Op, Send, SendWithImm,
                   Write, WriteWithImm) {
    Pair p;
    char greeting[] = "hello, peer";
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, 100)});
    Work w = work<Op>({plain(greeting, 5), plain(greeting + 7, 4)}, p.mb);
    w.flags |= IBV_SEND_INLINE;
    REQUIRE(post(p.qa.get(), w) == 0);
    std::memset(greeting, 'x', sizeof greeting);
    if (Op::receives) check_received<Op>(p.b.received(), p.qb, 9);
    check_sent<Op>(p.a.sent(), p.qa, 9);
    CHECK(std::memcmp(p.mb.bytes.data(), "hellopeer\0", 10) == 0);
}

TEST_CASE_TEMPLATE("an unsignalled request completes in silence", Op, Send, WriteWithImm, Read) {
    Pair p;
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, 8)});
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(8, 8)});
    Work silent = work<Op>({p.ma.segment(0, 8)}, p.mb), told = silent;
    silent.flags = 0;
    silent.id = 7;
    REQUIRE(post(p.qa.get(), silent) == 0);
    REQUIRE(post(p.qa.get(), told) == 0);
    if (Op::receives) {
        check_received<Op>(p.b.received(), p.qb, 8);
        check_received<Op>(p.b.received(), p.qb, 8);
    }
    check_sent<Op>(p.a.sent(), p.qa, 8);
    CHECK(p.a.quiet());
}

TEST_CASE_TEMPLATE("a queue pair can be made to signal every request", Op, Send, Write, Read) {
    Pair p{{.qp = {.signal_all = true}}};
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, 8)});
    Work w = work<Op>({p.ma.segment(0, 8)}, p.mb);
    w.flags = 0;
    REQUIRE(post(p.qa.get(), w) == 0);
    check_sent<Op>(p.a.sent(), p.qa, 8);
}

TEST_CASE("requests of all kinds complete in the order in which they were posted") {
    Pair p;
    std::vector<Work> list;
    for (uint64_t i = 0; i < 28; ++i) {
        constexpr ibv_wr_opcode kinds[] = {
            IBV_WR_SEND, IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
            IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ};
        list.push_back({.id = i,
                        .opcode = kinds[i % 7],
                        .segments = {p.ma.segment(i * 8, 8)},
                        .remote = p.mb.address(8 * i),
                        .rkey = p.mb.rkey()});
    }
    for (uint64_t i = 0; i < 12; ++i)
        REQUIRE(post_receive(p.qb.get(), {.id = i, .segments = {p.mb.segment(1000, 8)}}) == 0);
    REQUIRE(post_list(p.qa.get(), list).error == 0);
    for (uint64_t i = 0; i < list.size(); ++i) {
        const ibv_wc wc = p.a.sent();
        CHECK(wc.wr_id == i);
        CHECK(wc.status == IBV_WC_SUCCESS);
    }
    for (uint64_t i = 0; i < 12; ++i) CHECK(p.b.received().wr_id == i);
}

TEST_CASE("what was written before a send is there when the send is received") {
    Pair p{{.path = {.mtu = IBV_MTU_4096}}};
    p.ma.fill(3);
    REQUIRE(post_receive(p.qb.get(), {.id = 1}) == 0);
    REQUIRE(
        post_list(p.qa.get(), {work<Write>({p.ma.segment(0, 65536)}, p.mb), work<Send>({}, p.mb)})
            .error == 0);
    CHECK(p.b.received().status == IBV_WC_SUCCESS);
    CHECK(p.ma.bytes == p.mb.bytes);
    check_sent<Write>(p.a.sent(), p.qa, 0);
    check_sent<Send>(p.a.sent(), p.qa, 0);
}

TEST_CASE("a fenced send carries what the read before it has brought") {
    Pair p;
    p.mb.fill(4);
    REQUIRE(post_receive(p.qb.get(), {.segments = {p.mb.segment(32768, 16384)}}) == 0);
    Work send = work<Send>({p.ma.segment(0, 16384)}, p.mb);
    send.flags |= IBV_SEND_FENCE;
    REQUIRE(post_list(p.qa.get(), {work<Read>({p.ma.segment(0, 16384)}, p.mb), send}).error == 0);
    CHECK(p.b.received().byte_len == 16384);
    CHECK(std::memcmp(p.mb.bytes.data(), p.mb.bytes.data() + 32768, 16384) == 0);
}

TEST_CASE("a queue pair can be its own peer") {
    Side side;
    const Qp qp = side.make_qp();
    connect(qp.get(), qp->qp_num);
    Region region{side.pd, 64};
    region.fill(5);
    REQUIRE(post_receive(qp.get(), {.id = kReceiveId, .segments = {region.segment(32, 16)}}) == 0);
    REQUIRE(post(qp.get(), work<Send>({region.segment(0, 16)}, region)) == 0);
    check_received<Send>(side.received(), qp, 16);
    check_sent<Send>(side.sent(), qp, 16);
    CHECK(std::memcmp(region.bytes.data(), region.bytes.data() + 32, 16) == 0);
}

TEST_CASE("both ends can talk at once") {
    Pair p;
    for (uint64_t i = 0; i < 16; ++i) {
        REQUIRE(post_receive(p.qa.get(), {.id = i, .segments = {p.ma.segment(0, 8)}}) == 0);
        REQUIRE(post_receive(p.qb.get(), {.id = i, .segments = {p.mb.segment(0, 8)}}) == 0);
    }
    for (uint64_t i = 0; i < 16; ++i) {
        REQUIRE(post(p.qa.get(), {.id = i, .segments = {p.ma.segment(64, 8)}}) == 0);
        REQUIRE(post(p.qb.get(), {.id = i, .segments = {p.mb.segment(64, 8)}}) == 0);
    }
    for (const Side* side : {&p.a, &p.b}) {
        for (uint64_t i = 0; i < 16; ++i) {
            CHECK(side->sent().wr_id == i);
            CHECK(side->received().wr_id == i);
        }
    }
}
