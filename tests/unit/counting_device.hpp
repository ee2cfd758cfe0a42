// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// The soft device, with a count of what its queue pairs cost it.

#include "softrc/device.hpp"

#include <cerrno>
#include <climits>

namespace rig {

using namespace odrc;

struct Calls {
    int created{0}, modified{0}, destroyed{0};
    int most{INT_MAX}; // queue pairs that it has
    int standing() const { return created - destroyed; }
};

class CountingContext final : public verbs::Context {
public:
    CountingContext(std::unique_ptr<verbs::Context> soft, Calls& calls)
        : soft_{std::move(soft)}
        , calls_{calls} {}

    ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept override {
        if (calls_.standing() >= calls_.most) return errno = ENOMEM, nullptr;
        ++calls_.created;
        return soft_->create_qp(pd, attr);
    }
    int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept override {
        ++calls_.modified;
        return soft_->modify_qp(qp, attr, mask);
    }
    int destroy_qp(ibv_qp* qp) noexcept override {
        ++calls_.destroyed;
        return soft_->destroy_qp(qp);
    }

    ibv_pd* alloc_pd() noexcept override { return soft_->alloc_pd(); }
    int dealloc_pd(ibv_pd* pd) noexcept override { return soft_->dealloc_pd(pd); }
    ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept override {
        return soft_->reg_mr(pd, address, length, access);
    }
    int dereg_mr(ibv_mr* mr) noexcept override { return soft_->dereg_mr(mr); }
    int renew_mr(ibv_mr* mr) noexcept override { return soft_->renew_mr(mr); }
    void* allocate(size_t bytes) noexcept override { return soft_->allocate(bytes); }
    void release(void* memory, size_t bytes) noexcept override { soft_->release(memory, bytes); }
    ibv_comp_channel* create_comp_channel() noexcept override {
        return soft_->create_comp_channel();
    }
    int destroy_comp_channel(ibv_comp_channel* channel) noexcept override {
        return soft_->destroy_comp_channel(channel);
    }
    int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** context) noexcept override {
        return soft_->get_cq_event(channel, cq, context);
    }
    void ack_cq_events(ibv_cq* cq, unsigned count) noexcept override {
        soft_->ack_cq_events(cq, count);
    }
    ibv_cq* create_cq(int cqe, void* context, ibv_comp_channel* channel) noexcept override {
        return soft_->create_cq(cqe, context, channel);
    }
    int destroy_cq(ibv_cq* cq) noexcept override { return soft_->destroy_cq(cq); }
    ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) noexcept override {
        return soft_->create_srq(pd, attr);
    }
    int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept override {
        return soft_->modify_srq(srq, attr, mask);
    }
    int destroy_srq(ibv_srq* srq) noexcept override { return soft_->destroy_srq(srq); }
    int async_fd() const noexcept override { return soft_->async_fd(); }
    int get_async_event(ibv_async_event* e) noexcept override { return soft_->get_async_event(e); }
    void ack_async_event(ibv_async_event* e) noexcept override { soft_->ack_async_event(e); }
    ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept override {
        return soft_->create_ah(pd, attr);
    }
    int destroy_ah(ibv_ah* ah) noexcept override { return soft_->destroy_ah(ah); }
    ibv_gid gid() const noexcept override { return soft_->gid(); }
    uint64_t rnr_naks() const noexcept override { return soft_->rnr_naks(); }

private:
    std::unique_ptr<verbs::Context> soft_;
    Calls& calls_;
};

class CountingDevice final : public verbs::Device {
public:
    explicit CountingDevice(const verbs::Device& soft)
        : verbs::Device{soft.port()}
        , soft_{soft} {}
    std::unique_ptr<verbs::Context> open() const override {
        return std::make_unique<CountingContext>(soft_.open(), calls_);
    }
    Calls& calls() const noexcept { return calls_; }

private:
    const verbs::Device& soft_;
    mutable Calls calls_;
};

} // namespace rig
