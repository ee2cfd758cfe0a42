// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

// A device on which somebody else makes a queue pair whenever we make one, so that no two of ours
// have numbers in a row.
class CrowdedContext final : public odrc::verbs::Context {
public:
    explicit CrowdedContext(std::unique_ptr<Context> alone)
        : c_{std::move(alone)} {}

    ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept override {
        ibv_qp_init_attr same = *attr;
        if (ibv_qp* other = c_->create_qp(pd, &same)) c_->destroy_qp(other);
        return c_->create_qp(pd, attr);
    }

    ibv_pd* alloc_pd() noexcept override { return c_->alloc_pd(); }
    int dealloc_pd(ibv_pd* pd) noexcept override { return c_->dealloc_pd(pd); }
    ibv_mr* reg_mr(ibv_pd* pd, void* a, size_t length, int access) noexcept override {
        return c_->reg_mr(pd, a, length, access);
    }
    int dereg_mr(ibv_mr* mr) noexcept override { return c_->dereg_mr(mr); }
    int renew_mr(ibv_mr* mr) noexcept override { return c_->renew_mr(mr); }
    void* allocate(size_t bytes) noexcept override { return c_->allocate(bytes); }
    void release(void* memory, size_t bytes) noexcept override { c_->release(memory, bytes); }
    ibv_comp_channel* create_comp_channel() noexcept override { return c_->create_comp_channel(); }
    int destroy_comp_channel(ibv_comp_channel* channel) noexcept override {
        return c_->destroy_comp_channel(channel);
    }
    int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** context) noexcept override {
        return c_->get_cq_event(channel, cq, context);
    }
    void ack_cq_events(ibv_cq* cq, unsigned n) noexcept override { c_->ack_cq_events(cq, n); }
    ibv_cq* create_cq(int cqe, void* context, ibv_comp_channel* channel) noexcept override {
        return c_->create_cq(cqe, context, channel);
    }
    int destroy_cq(ibv_cq* cq) noexcept override { return c_->destroy_cq(cq); }
    ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) noexcept override {
        return c_->create_srq(pd, attr);
    }
    int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept override {
        return c_->modify_srq(srq, attr, mask);
    }
    int destroy_srq(ibv_srq* srq) noexcept override { return c_->destroy_srq(srq); }
    int async_fd() const noexcept override { return c_->async_fd(); }
    int get_async_event(ibv_async_event* e) noexcept override { return c_->get_async_event(e); }
    void ack_async_event(ibv_async_event* e) noexcept override { c_->ack_async_event(e); }
    int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept override {
        return c_->modify_qp(qp, attr, mask);
    }
    int destroy_qp(ibv_qp* qp) noexcept override { return c_->destroy_qp(qp); }
    ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept override {
        return c_->create_ah(pd, attr);
    }
    int destroy_ah(ibv_ah* ah) noexcept override { return c_->destroy_ah(ah); }
    ibv_gid gid() const noexcept override { return c_->gid(); }
    uint64_t rnr_naks() const noexcept override { return c_->rnr_naks(); }

private:
    const std::unique_ptr<Context> c_;
};

class CrowdedDevice final : public odrc::verbs::Device {
public:
    explicit CrowdedDevice(const Device& alone)
        : Device{alone.port()}
        , alone_{alone} {}
    std::unique_ptr<odrc::verbs::Context> open() const override {
        return std::make_unique<CrowdedContext>(alone_.open());
    }

private:
    const Device& alone_;
};
