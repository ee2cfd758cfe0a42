// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/process.hpp"
#include "verbs_rc/device.hpp"

namespace odrc::soft {

// The soft device, opened: the seam's calls on this process's objects.
class SoftContext final : public verbs::Context {
public:
    SoftContext(ibv_device& device, const verbs::Port& port); // throws Error
    ~SoftContext() override;

    // The opened device behind a context of ours.
    static SoftContext& of(ibv_context* context) noexcept {
        return *reinterpret_cast<SoftContext*>(verbs_get_ctx(context)->priv);
    }

    Process& process() noexcept { return *process_; }
    verbs_context& extended() noexcept { return context_; }

    ibv_pd* alloc_pd() noexcept override;
    int dealloc_pd(ibv_pd* pd) noexcept override;
    ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept override;
    int dereg_mr(ibv_mr* mr) noexcept override;
    int renew_mr(ibv_mr*) noexcept override { return 0; } // each access looks its pages up
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
    int async_fd() const noexcept override { return context_.context.async_fd; }
    int get_async_event(ibv_async_event* event) noexcept override;
    void ack_async_event(ibv_async_event* event) noexcept override;
    ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept override;
    int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept override;
    int destroy_qp(ibv_qp* qp) noexcept override;
    const std::byte* peer_memory(ibv_qp* qp, uint64_t address, uint32_t rkey,
                                 size_t length) noexcept override;
    bool is_far(ibv_qp* qp) noexcept override;
    ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept override;
    int destroy_ah(ibv_ah* ah) noexcept override;
    ibv_gid gid() const noexcept override;
    uint64_t node() const noexcept override { return process_->node().instance(); }
    uint64_t rnr_naks() const noexcept override;

    // Beyond the seam, for programs that speak verbs themselves: as the libibverbs functions of
    // these names.
    ibv_mr* reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova,
                        int access) noexcept;
    int resize_cq(ibv_cq* cq, int cqe) noexcept;
    int query_port(uint8_t number, ibv_port_attr* attr) noexcept;
    int query_srq(ibv_srq* srq, ibv_srq_attr* attr) noexcept;
    int query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) noexcept;

private:
    std::shared_ptr<Process> process_;
    const verbs::Port& port_;
    Pipe events_;
    verbs_context context_{};
    const uint64_t rnr_before_;
};

} // namespace odrc::soft
