// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/preload/send_calls.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using odrc::soft::SendCalls;

namespace {

// A queue pair that keeps what is posted to it. Of inline data, the bytes as they are then.
class Recorder {
public:
    struct Posted {
        ibv_send_wr wr;
        std::vector<ibv_sge> segments;
        std::string inline_data;
    };

    Recorder() {
        context_.ops.post_send = post_send;
        qp.context = &context_;
        qp.qp_context = this;
        qp.qp_num = 42;
    }

    ibv_qp qp{};
    std::vector<Posted> posted;
    int answer{0};

private:
    static int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr**) {
        auto& self = *static_cast<Recorder*>(qp->qp_context);
        for (; wr; wr = wr->next) {
            Posted p{
                .wr = *wr, .segments = {wr->sg_list, wr->sg_list + wr->num_sge}, .inline_data = {}};
            if (wr->send_flags & IBV_SEND_INLINE)
                for (const ibv_sge& s : p.segments)
                    p.inline_data.append(reinterpret_cast<const char*>(s.addr), s.length);
            self.posted.push_back(p);
        }
        return self.answer;
    }

    ibv_context context_{};
};

} // namespace

TEST_CASE("send calls are posted as one list, in order, each with its own segments") {
    Recorder recorder;
    SendCalls calls{recorder.qp};
    CHECK(calls.qp_base.qp_num == 42);

    ibv_wr_start(&calls);
    calls.wr_id = 1;
    calls.wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send_imm(&calls, htonl(7));
    const ibv_sge list[] = {{.addr = 100, .length = 10, .lkey = 3},
                            {.addr = 200, .length = 20, .lkey = 4}};
    ibv_wr_set_sge_list(&calls, 2, list);
    calls.wr_id = 2;
    calls.wr_flags = 0;
    ibv_wr_rdma_write(&calls, 5, 500);
    calls.wr_id = 3;
    ibv_wr_rdma_read(&calls, 6, 600);
    ibv_wr_set_sge(&calls, 9, 300, 30);
    CHECK(recorder.posted.empty());
    CHECK(ibv_wr_complete(&calls) == 0);

    REQUIRE(recorder.posted.size() == 3);
    const auto& send = recorder.posted[0];
    const auto& write = recorder.posted[1];
    const auto& read = recorder.posted[2];
    CHECK(send.wr.wr_id == 1);
    CHECK(send.wr.opcode == IBV_WR_SEND_WITH_IMM);
    CHECK(send.wr.send_flags == IBV_SEND_SIGNALED);
    CHECK(send.wr.imm_data == htonl(7));
    REQUIRE(send.segments.size() == 2);
    CHECK(send.segments[0].addr == 100);
    CHECK(send.segments[1].lkey == 4);
    CHECK(write.wr.wr_id == 2);
    CHECK(write.wr.opcode == IBV_WR_RDMA_WRITE);
    CHECK(write.wr.send_flags == 0);
    CHECK(write.wr.wr.rdma.rkey == 5);
    CHECK(write.wr.wr.rdma.remote_addr == 500);
    CHECK(write.segments.empty());
    CHECK(read.wr.opcode == IBV_WR_RDMA_READ);
    REQUIRE(read.segments.size() == 1);
    CHECK(read.segments[0].addr == 300);
    CHECK(read.segments[0].length == 30);
    CHECK(read.segments[0].lkey == 9);
}

TEST_CASE("send calls take inline data at once, and only where it was given so") {
    Recorder recorder;
    SendCalls calls{recorder.qp};
    char hello[] = "hello";
    char world[] = "world";

    ibv_wr_start(&calls);
    calls.wr_flags = IBV_SEND_INLINE; // for the setters to say
    for (int i = 0; i < 100; ++i) {
        ibv_wr_send(&calls);
        ibv_wr_set_inline_data(&calls, hello, 5);
    }
    ibv_wr_rdma_write_imm(&calls, 1, 2, 3);
    const ibv_data_buf both[] = {{.addr = hello, .length = 5}, {.addr = world, .length = 5}};
    ibv_wr_set_inline_data_list(&calls, 2, both);
    ibv_wr_send(&calls);
    ibv_wr_set_sge(&calls, 0, reinterpret_cast<uint64_t>(hello), 5);
    std::memset(hello, 'x', 5);
    CHECK(ibv_wr_complete(&calls) == 0);

    REQUIRE(recorder.posted.size() == 102);
    for (int i = 0; i < 100; ++i) CHECK(recorder.posted[i].inline_data == "hello");
    CHECK(recorder.posted[100].inline_data == "helloworld");
    CHECK(recorder.posted[100].wr.num_sge == 1);
    CHECK(recorder.posted[101].wr.send_flags == 0);
}

TEST_CASE("send calls carry what atomics and datagrams need") {
    Recorder recorder;
    SendCalls calls{recorder.qp};
    ibv_ah ah{};

    ibv_wr_start(&calls);
    ibv_wr_atomic_fetch_add(&calls, 1, 2, 3);
    ibv_wr_set_sge(&calls, 0, 0, 8);
    ibv_wr_atomic_cmp_swp(&calls, 4, 5, 6, 7);
    ibv_wr_set_sge(&calls, 0, 0, 8);
    ibv_wr_send(&calls);
    ibv_wr_set_ud_addr(&calls, &ah, 8, 9);
    CHECK(ibv_wr_complete(&calls) == 0);

    REQUIRE(recorder.posted.size() == 3);
    const auto& add = recorder.posted[0].wr;
    CHECK(add.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD);
    CHECK(add.wr.atomic.rkey == 1);
    CHECK(add.wr.atomic.remote_addr == 2);
    CHECK(add.wr.atomic.compare_add == 3);
    const auto& swap = recorder.posted[1].wr;
    CHECK(swap.opcode == IBV_WR_ATOMIC_CMP_AND_SWP);
    CHECK(swap.wr.atomic.compare_add == 6);
    CHECK(swap.wr.atomic.swap == 7);
    const auto& datagram = recorder.posted[2].wr;
    CHECK(datagram.wr.ud.ah == &ah);
    CHECK(datagram.wr.ud.remote_qpn == 8);
    CHECK(datagram.wr.ud.remote_qkey == 9);
}

TEST_CASE("send calls tell errors at the end, and begin afresh after them") {
    Recorder recorder;
    SendCalls calls{recorder.qp};

    ibv_wr_start(&calls);
    ibv_wr_set_sge(&calls, 0, 0, 8); // of no work request
    ibv_wr_send(&calls);
    CHECK(ibv_wr_complete(&calls) == EINVAL);
    CHECK(recorder.posted.empty());

    ibv_wr_start(&calls);
    ibv_wr_send(&calls);
    ibv_wr_abort(&calls);

    ibv_wr_start(&calls);
    CHECK(ibv_wr_complete(&calls) == 0);
    CHECK(recorder.posted.empty());

    recorder.answer = ENOMEM;
    ibv_wr_start(&calls);
    ibv_wr_send(&calls);
    CHECK(ibv_wr_complete(&calls) == ENOMEM);
    CHECK(recorder.posted.size() == 1);
}

TEST_CASE("send calls let one thread in at a time") {
    Recorder recorder;
    SendCalls calls{recorder.qp};
    constexpr uint64_t kEach = 200;
    auto post = [&](uint64_t thread) {
        for (uint64_t i = 0; i < kEach; ++i) {
            ibv_wr_start(&calls);
            for (int half = 0; half < 2; ++half) {
                calls.wr_id = thread;
                ibv_wr_send(&calls);
                ibv_wr_set_sge(&calls, 0, thread, 1);
            }
            ibv_wr_complete(&calls);
        }
    };
    std::thread other{post, 1};
    post(2);
    other.join();
    REQUIRE(recorder.posted.size() == 4 * kEach);
    for (size_t i = 0; i < recorder.posted.size(); i += 2) {
        CHECK(recorder.posted[i].wr.wr_id == recorder.posted[i + 1].wr.wr_id);
        CHECK(recorder.posted[i].segments[0].addr == recorder.posted[i].wr.wr_id);
    }
}
