// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <infiniband/verbs.h>
#include <mutex>
#include <span>
#include <vector>

namespace odrc::soft {

// What ibv_qp_to_qp_ex(3) gives for a queue pair: the calls of ibv_wr_post(3). Work requests are
// gathered from wr_start to wr_complete and then posted as one list. If the queue pair refuses
// one of them, those before it are posted, as with ibv_post_send(3).
class SendCalls : public ibv_qp_ex {
public:
    // Of enum ibv_qp_create_send_ops_flags.
    static constexpr uint64_t kOffered =
        IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
        IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
        IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

    explicit SendCalls(ibv_qp& qp) noexcept;
    SendCalls(const SendCalls&) = delete;
    SendCalls& operator=(const SendCalls&) = delete;

private:
    void offer_requests() noexcept;
    void offer_setters() noexcept;

    ibv_send_wr& begin(ibv_wr_opcode opcode) noexcept;
    ibv_send_wr& begin_rdma(ibv_wr_opcode opcode, uint32_t rkey, uint64_t address) noexcept;
    void begin_atomic(ibv_wr_opcode opcode, uint32_t rkey, uint64_t address, uint64_t operand,
                      uint64_t swap) noexcept;
    ibv_send_wr& latest() noexcept;
    void add_segments(std::span<const ibv_sge> list) noexcept;
    void add_inline(std::span<const ibv_data_buf> list) noexcept;
    int complete() noexcept;
    void leave() noexcept;

    ibv_qp& qp_;
    std::mutex mutex_; // held from wr_start to wr_complete or wr_abort; guards all below
    // In order: each request has the next num_sge of the segments.
    std::vector<ibv_send_wr> requests_;
    std::vector<ibv_sge> segments_; // those of inline data have an offset into data_ as address
    std::vector<std::byte> data_;
    int error_{0};        // the first: told by wr_complete
    ibv_send_wr spare_{}; // what a failed call fills in
};

} // namespace odrc::soft
