// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Queue pairs on the soft device with all they need around them, for tests.

#include "softrc/device.hpp"
#include "verbs_rc/adapter.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace rig {

using namespace odrc;

inline const verbs::Device& soft_device() {
    static const auto device = soft::make_soft_device();
    return *device;
}

struct Limits {
    int completions{64};
    uint32_t sends{32};
    uint32_t receives{32};
    uint8_t rnr_retry{7};
};

// One side: a device context, one completion queue for all, a shared receive queue.
class Side {
public:
    explicit Side(Limits limits = {})
        : limits_{limits}
        , context_{soft_device().open()}
        , pd{*context_, context_->alloc_pd()}
        , channel{*context_, context_->create_comp_channel()}
        , cq{*context_, context_->create_cq(limits.completions, nullptr, channel.get())} {
        ibv_srq_init_attr attr{};
        attr.attr = {.max_wr = limits.receives, .max_sge = 4, .srq_limit = 0};
        srq = verbs::Srq{*context_, context_->create_srq(pd.get(), &attr)};
    }

    verbs::Context& context() { return *context_; }

    verbs::Qp make_qp() {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq.get();
        attr.srq = srq.get();
        attr.cap = {.max_send_wr = limits_.sends,
                    .max_recv_wr = 0,
                    .max_send_sge = 4,
                    .max_recv_sge = 0,
                    .max_inline_data = 64};
        attr.qp_type = IBV_QPT_RC;
        return {*context_, context_->create_qp(pd.get(), &attr)};
    }

    verbs::Mr register_memory(void* address, size_t bytes, int access) {
        return {*context_, context_->reg_mr(pd.get(), address, bytes, access)};
    }

    int to_init(ibv_qp* qp) {
        ibv_qp_attr a{};
        a.qp_state = IBV_QPS_INIT;
        a.port_num = 1;
        a.qp_access_flags =
            IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
        return context_->modify_qp(
            qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    }
    int to_rtr(ibv_qp* qp, uint32_t peer, uint32_t psn = 0) {
        ibv_qp_attr a{};
        a.qp_state = IBV_QPS_RTR;
        a.path_mtu = IBV_MTU_4096;
        a.dest_qp_num = peer;
        a.rq_psn = psn;
        a.ah_attr.port_num = 1;
        a.min_rnr_timer = 1; // 0.01 ms
        return context_->modify_qp(qp, &a,
                                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                       IBV_QP_MIN_RNR_TIMER);
    }
    int to_rts(ibv_qp* qp) {
        ibv_qp_attr a{};
        a.qp_state = IBV_QPS_RTS;
        a.timeout = 8; // 1 ms
        a.retry_cnt = 1;
        a.rnr_retry = limits_.rnr_retry;
        return context_->modify_qp(qp, &a,
                                   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
                                       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                       IBV_QP_MAX_QP_RD_ATOMIC);
    }
    int to_error(ibv_qp* qp) {
        ibv_qp_attr a{};
        a.qp_state = IBV_QPS_ERR;
        return context_->modify_qp(qp, &a, IBV_QP_STATE);
    }
    void connect(ibv_qp* qp, uint32_t peer) {
        REQUIRE(to_init(qp) == 0);
        REQUIRE(to_rtr(qp, peer) == 0);
        REQUIRE(to_rts(qp) == 0);
    }

    int post_receive(uint64_t id, void* address, uint32_t bytes, uint32_t lkey) {
        ibv_sge sge{reinterpret_cast<uint64_t>(address), bytes, lkey};
        ibv_recv_wr wr{.wr_id = id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
        ibv_recv_wr* bad = nullptr;
        return ibv_post_srq_recv(srq.get(), &wr, &bad);
    }

    struct Request {
        uint64_t id{0};
        ibv_wr_opcode opcode{IBV_WR_SEND};
        unsigned flags{IBV_SEND_SIGNALED};
        uint64_t remote{0};
        uint32_t rkey{0};
        uint32_t imm{0};
        uint64_t add{0}; // of an atomic operation: what is added, or compared with
        uint64_t swap{0};
    };
    int post_send(ibv_qp* qp, std::vector<ibv_sge> segments, const Request& r) {
        ibv_send_wr wr{};
        wr.wr_id = r.id;
        wr.sg_list = segments.data();
        wr.num_sge = static_cast<int>(segments.size());
        wr.opcode = r.opcode;
        wr.send_flags = r.flags;
        wr.imm_data = r.imm;
        if (r.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || r.opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
            wr.wr.atomic = {
                .remote_addr = r.remote, .compare_add = r.add, .swap = r.swap, .rkey = r.rkey};
        } else {
            wr.wr.rdma.remote_addr = r.remote;
            wr.wr.rdma.rkey = r.rkey;
        }
        ibv_send_wr* bad = nullptr;
        return ibv_post_send(qp, &wr, &bad);
    }

    std::optional<ibv_wc> poll() {
        ibv_wc wc;
        return ibv_poll_cq(cq.get(), 1, &wc) == 1 ? std::optional{wc} : std::nullopt;
    }
    // The next completion; fails the test if none comes for a while.
    ibv_wc wait() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
        for (;;) {
            if (auto wc = poll()) return *wc;
            REQUIRE(std::chrono::steady_clock::now() < end);
            sched_yield();
        }
    }

private:
    Limits limits_;
    std::unique_ptr<verbs::Context> context_;

public:
    verbs::Pd pd;
    verbs::Channel channel;
    verbs::Cq cq;
    verbs::Srq srq;
};

inline ibv_sge sge(const void* address, size_t bytes, uint32_t lkey) {
    return {reinterpret_cast<uint64_t>(address), static_cast<uint32_t>(bytes), lkey};
}

// Two sides in this process, connected, each with some registered memory.
struct Pair {
    explicit Pair(Limits limits = {})
        : a{limits}
        , b{limits} {
        qa = a.make_qp();
        qb = b.make_qp();
        REQUIRE(qa);
        REQUIRE(qb);
        a.connect(qa.get(), qb->qp_num);
        b.connect(qb.get(), qa->qp_num);
        constexpr int kAll =
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
        ma = a.register_memory(in_a.data(), in_a.size(), kAll);
        mb = b.register_memory(in_b.data(), in_b.size(), kAll);
        for (size_t i = 0; i < in_a.size(); ++i) in_a[i] = static_cast<char>(i * 7);
    }

    Side a, b;
    std::vector<char> in_a = std::vector<char>(65536);
    std::vector<char> in_b = std::vector<char>(65536);
    verbs::Qp qa, qb;
    verbs::Mr ma, mb;
};

} // namespace rig
