// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The soft device keeps the verbs contract: what a program sees through ibv_* calls.

#include "soft_rig.hpp"

#include <cstring>
#include <fcntl.h>
#include <poll.h>

using namespace rig;

TEST_CASE("a send fills the segments of a receive from the shared queue") {
    Pair p;
    ibv_sge scatter[2] = {sge(p.in_b.data(), 10, p.mb->lkey),
                          sge(p.in_b.data() + 100, 1000, p.mb->lkey)};
    ibv_recv_wr wr{.wr_id = 5, .next = nullptr, .sg_list = scatter, .num_sge = 2};
    ibv_recv_wr* bad = nullptr;
    REQUIRE(ibv_post_srq_recv(p.b.srq.get(), &wr, &bad) == 0);
    REQUIRE(
        p.a.post_send(p.qa.get(),
                      {sge(p.in_a.data(), 3, p.ma->lkey), sge(p.in_a.data() + 50, 20, p.ma->lkey)},
                      {.id = 6}) == 0);
    const ibv_wc sent = p.a.wait(), received = p.b.wait();
    CHECK(sent.wr_id == 6);
    CHECK(sent.status == IBV_WC_SUCCESS);
    CHECK(sent.opcode == IBV_WC_SEND);
    CHECK(received.wr_id == 5);
    CHECK(received.status == IBV_WC_SUCCESS);
    CHECK(received.opcode == IBV_WC_RECV);
    CHECK(received.byte_len == 23);
    CHECK(received.qp_num == p.qb->qp_num);
    CHECK(std::memcmp(p.in_b.data(), p.in_a.data(), 3) == 0);
    CHECK(std::memcmp(p.in_b.data() + 3, p.in_a.data() + 50, 7) == 0);
    CHECK(std::memcmp(p.in_b.data() + 100, p.in_a.data() + 57, 13) == 0);
}

TEST_CASE("an unsignaled send completes at its receiver alone") {
    Pair p;
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, 0)}, {.flags = IBV_SEND_INLINE}) ==
            0); // inline: no key is looked at
    CHECK(p.b.wait().byte_len == 8);
    CHECK_FALSE(p.a.poll());
}

TEST_CASE("a send waits for a receive, and with it all that follows, in order") {
    Pair p;
    for (uint64_t i = 0; i < 5; ++i) {
        p.in_a[0] = static_cast<char>(i); // inline data may change once the call is back
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, 0)},
                              {.id = i, .flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}) == 0);
    }
    CHECK_FALSE(p.a.poll());
    CHECK(p.a.context().rnr_naks() >= 1);
    for (uint64_t i = 0; i < 5; ++i)
        REQUIRE(p.b.post_receive(i, p.in_b.data() + i, 1, p.mb->lkey) == 0);
    for (uint64_t i = 0; i < 5; ++i) {
        CHECK(p.a.wait().wr_id == i);
        CHECK(p.b.wait().wr_id == i);
        CHECK(p.in_b[i] == static_cast<char>(i));
    }
}

TEST_CASE("a waiting send goes out while nobody polls") {
    Pair p;
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, 0)}, {.flags = IBV_SEND_INLINE}) == 0);
    REQUIRE(ibv_req_notify_cq(p.b.cq.get(), 0) == 0);
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 1, p.mb->lkey) == 0);
    pollfd channel{.fd = p.b.channel->fd, .events = POLLIN, .revents = 0};
    CHECK(poll(&channel, 1, 10'000) == 1);
    CHECK(p.b.poll());
}

TEST_CASE("a bounded number of RNR retries ends in an error, and flushes what follows in order") {
    Pair p{{.rnr_retry = 1}};
    for (uint64_t i = 0; i < 3; ++i)
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {.id = i}) == 0);
    const ibv_wc failed = p.a.wait();
    CHECK(failed.wr_id == 0);
    CHECK(failed.status == IBV_WC_RNR_RETRY_EXC_ERR);
    for (uint64_t i = 1; i < 3; ++i) {
        const ibv_wc flushed = p.a.wait();
        CHECK(flushed.wr_id == i);
        CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
    }
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {.id = 9}) == 0);
    CHECK(p.a.wait().status == IBV_WC_WR_FLUSH_ERR);
}

TEST_CASE("a receive that is too small fails on both sides") {
    Pair p;
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 9, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 10, p.ma->lkey)}, {}) == 0);
    CHECK(p.b.wait().status == IBV_WC_LOC_LEN_ERR);
    CHECK(p.a.wait().status == IBV_WC_REM_INV_REQ_ERR);
    REQUIRE(p.b.post_send(p.qb.get(), {sge(p.in_b.data(), 1, p.mb->lkey)}, {}) == 0);
    CHECK(p.b.wait().status == IBV_WC_WR_FLUSH_ERR); // its queue pair is in error too
}

TEST_CASE("a receive into memory that is not registered fails on both sides") {
    Pair p;
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey + 256) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 10, p.ma->lkey)}, {}) == 0);
    CHECK(p.b.wait().status == IBV_WC_LOC_PROT_ERR);
    CHECK(p.a.wait().status == IBV_WC_REM_OP_ERR);
}

TEST_CASE("a send from memory that is not registered fails at its sender") {
    Pair p;
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 10, p.ma->lkey + 1)}, {}) == 0);
    CHECK(p.a.wait().status == IBV_WC_LOC_PROT_ERR);
    CHECK_FALSE(p.b.poll());
}

TEST_CASE("RDMA reads and writes move what keys, bounds and access allow") {
    Pair p;
    const auto remote = reinterpret_cast<uint64_t>(p.in_b.data());
    const size_t size = p.in_b.size();

    SUBCASE("write") {
        REQUIRE(p.a.post_send(
                    p.qa.get(), {sge(p.in_a.data(), size, p.ma->lkey)},
                    {.opcode = IBV_WR_RDMA_WRITE, .remote = remote, .rkey = p.mb->rkey}) == 0);
        const ibv_wc wc = p.a.wait();
        CHECK(wc.status == IBV_WC_SUCCESS);
        CHECK(wc.opcode == IBV_WC_RDMA_WRITE);
        CHECK(p.in_a == p.in_b);
        CHECK_FALSE(p.b.poll()); // the other side hears nothing
    }
    SUBCASE("write with immediate data") {
        REQUIRE(p.b.post_receive(3, nullptr, 0, 0) == 0);
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 100, p.ma->lkey)},
                              {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                               .remote = remote,
                               .rkey = p.mb->rkey,
                               .imm = 0x1234}) == 0);
        CHECK(p.a.wait().status == IBV_WC_SUCCESS);
        const ibv_wc wc = p.b.wait();
        CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
        CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0);
        CHECK(wc.imm_data == 0x1234);
        CHECK(wc.byte_len == 100);
        CHECK(wc.wr_id == 3);
    }
    SUBCASE("read") {
        std::memset(p.in_b.data(), 42, size);
        REQUIRE(p.a.post_send(p.qa.get(),
                              {sge(p.in_a.data(), 10, p.ma->lkey),
                               sge(p.in_a.data() + 20, size - 20, p.ma->lkey)},
                              {.opcode = IBV_WR_RDMA_READ, .remote = remote, .rkey = p.mb->rkey}) ==
                0);
        const ibv_wc wc = p.a.wait();
        CHECK(wc.status == IBV_WC_SUCCESS);
        CHECK(wc.byte_len == size - 10);
        CHECK(p.in_a[9] == 42);
        CHECK(p.in_a[10] == 70); // between the segments: untouched
        CHECK(p.in_a[20] == 42);
    }
    struct Refusal {
        const char* why;
        uint64_t offset;
        uint32_t key;
    };
    for (const Refusal& r : {Refusal{"past the end", size - 9, p.mb->rkey},
                             Refusal{"before the start", uint64_t(-1), p.mb->rkey},
                             Refusal{"a wrong key", 0, p.mb->rkey ^ 1}, Refusal{"no key", 0, 0}}) {
        SUBCASE(r.why) {
            REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 10, p.ma->lkey)},
                                  {.opcode = IBV_WR_RDMA_WRITE,
                                   .remote = remote + r.offset,
                                   .rkey = r.key}) == 0);
            CHECK(p.a.wait().status == IBV_WC_REM_ACCESS_ERR);
        }
    }
    SUBCASE("no right to write") {
        const verbs::Mr read_only =
            p.b.register_memory(p.in_b.data(), size, IBV_ACCESS_REMOTE_READ);
        REQUIRE(p.a.post_send(
                    p.qa.get(), {sge(p.in_a.data(), 10, p.ma->lkey)},
                    {.opcode = IBV_WR_RDMA_WRITE, .remote = remote, .rkey = read_only->rkey}) == 0);
        CHECK(p.a.wait().status == IBV_WC_REM_ACCESS_ERR);
    }
    SUBCASE("a key given back") {
        const uint32_t key = p.mb->rkey;
        p.mb = verbs::Mr{};
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 10, p.ma->lkey)},
                              {.opcode = IBV_WR_RDMA_READ, .remote = remote, .rkey = key}) == 0);
        CHECK(p.a.wait().status == IBV_WC_REM_ACCESS_ERR);
    }
    SUBCASE("nothing: no key is looked at") {
        REQUIRE(p.a.post_send(p.qa.get(), {}, {.opcode = IBV_WR_RDMA_READ}) == 0);
        CHECK(p.a.wait().status == IBV_WC_SUCCESS);
    }
}

TEST_CASE("one key can cover all memory of a process") {
    Pair p;
    const verbs::Mr whole =
        p.a.register_memory(nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
    REQUIRE(whole);
    int on_the_stack = 77;
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(&on_the_stack, sizeof(int), whole->lkey)}, {}) == 0);
    CHECK(p.a.wait().status == IBV_WC_SUCCESS);
    CHECK(p.in_b[0] == 77);
}

TEST_CASE("a full queue takes no more") {
    Pair p{{.sends = 4, .receives = 3}};
    for (int i = 0; i < 3; ++i) CHECK(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey) == 0);
    CHECK(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey) == ENOMEM);
    for (int i = 0; i < 4; ++i)
        CHECK(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {}) == 0);
    CHECK(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {}) == ENOMEM);
    p.a.wait(); // a place is free again when its completion is polled
    p.b.wait();
    CHECK(p.b.post_receive(1, p.in_b.data(), 100, p.mb->lkey) == 0);
    CHECK(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {}) == 0);
}

TEST_CASE("rings go round many times") {
    Pair p{{.completions = 8, .sends = 4, .receives = 3}};
    for (uint64_t i = 0; i < 10'000; ++i) {
        REQUIRE(p.b.post_receive(i, p.in_b.data(), 8, p.mb->lkey) == 0);
        REQUIRE(p.a.post_send(p.qa.get(), {sge(&i, sizeof i, 0)},
                              {.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}) == 0);
        const ibv_wc wc = p.b.wait();
        REQUIRE(wc.wr_id == i);
        REQUIRE(std::memcmp(p.in_b.data(), &i, sizeof i) == 0);
        REQUIRE(p.a.wait().status == IBV_WC_SUCCESS);
    }
}

TEST_CASE("a completion channel tells once of what came after it was asked to") {
    Pair p;
    fcntl(p.b.channel->fd, F_SETFL, O_NONBLOCK);
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    auto event = [&] { return p.b.context().get_cq_event(p.b.channel.get(), &cq, &context) == 0; };
    auto message = [&] {
        REQUIRE(p.b.post_receive(1, p.in_b.data(), 10, p.mb->lkey) == 0);
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, p.ma->lkey)}, {}) == 0);
    };
    message();
    CHECK_FALSE(event()); // not asked for
    REQUIRE(ibv_req_notify_cq(p.b.cq.get(), 0) == 0);
    CHECK_FALSE(event());
    message();
    message();
    CHECK(event());
    CHECK(cq == p.b.cq.get());
    CHECK_FALSE(event()); // once
}

TEST_CASE("completions without room are lost, and the sender is told") {
    Pair p{{.completions = 4}};
    for (uint64_t i = 0; i < 5; ++i)
        REQUIRE(p.b.post_receive(i, p.in_b.data(), 10, p.mb->lkey) == 0);
    for (uint64_t i = 0; i < 5; ++i)
        REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 1, 0)},
                              {.id = i, .flags = IBV_SEND_INLINE}) == 0);
    const ibv_wc wc = p.a.wait();
    CHECK(wc.wr_id == 4);
    CHECK(wc.status == IBV_WC_REM_OP_ERR);
}
