// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

#include <atomic>

namespace odrc::verbs {

// The seam over libibverbs: each call is the libibverbs function of its name.
class HcaContext final : public Context {
public:
    // Takes the opened device over.
    HcaContext(ibv_context* context, const Port& port);
    ~HcaContext() override;

    ibv_pd* alloc_pd() noexcept override;
    int dealloc_pd(ibv_pd* pd) noexcept override;
    ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept override;
    int dereg_mr(ibv_mr* mr) noexcept override;
    int renew_mr(ibv_mr* mr) noexcept override;
    void* allocate(size_t bytes) noexcept override;
    void release(void* memory, size_t bytes) noexcept override;
    ibv_comp_channel* create_comp_channel() noexcept override;
    int destroy_comp_channel(ibv_comp_channel* channel) noexcept override;
    int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept override;
    void ack_cq_events(ibv_cq* cq, unsigned count) noexcept override;
    ibv_cq* create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept override;
    int destroy_cq(ibv_cq* cq) noexcept override;
    ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) noexcept override;
    int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept override;
    int destroy_srq(ibv_srq* srq) noexcept override;
    int async_fd() const noexcept override { return context_->async_fd; }
    int get_async_event(ibv_async_event* event) noexcept override;
    void ack_async_event(ibv_async_event* event) noexcept override;
    ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept override;
    int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept override;
    int destroy_qp(ibv_qp* qp) noexcept override;
    ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept override;
    int destroy_ah(ibv_ah* ah) noexcept override;
    uint64_t rnr_naks() const noexcept override;

private:
    uint64_t read_rnr_counter() const noexcept;

    ibv_context* context_;
    std::atomic<bool> tells_operations_{true}; // until the driver turns out to take none of it
    std::string rnr_counter_;                  // a file of sysfs; empty where the driver has none
    uint64_t rnr_before_{0};
};

} // namespace odrc::verbs
