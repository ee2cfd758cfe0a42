// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A device that can do nothing but register memory, and remembers what it was shown: as the pages
// that a real one pins, that stays what it was when the memory is no longer there.

#include "verbs_rc/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace rig {

using namespace odrc;

// What is registered begins with a number that tells it from all that was there before.
struct Pinned : ibv_mr {
    uint64_t first_word{0};
    int access;
};

class RegisteringDevice : public verbs::Context {
public:
    std::atomic<int> registered{0}, deregistered{0};
    std::atomic<size_t> bytes{0}, bytes_peak{0};
    std::atomic<int> refuse{0}; // so many registrations

    int standing() const { return registered - deregistered; }

    ibv_mr* reg_mr(ibv_pd*, void* address, size_t length, int access) noexcept override {
        if (refuse > 0) {
            --refuse;
            errno = ENOMEM;
            return nullptr;
        }
        auto* mr = new Pinned{};
        mr->addr = address;
        mr->length = length;
        mr->access = access;
        mr->lkey = mr->rkey = static_cast<uint32_t>(++registered);
        std::memcpy(&mr->first_word, address, std::min(length, sizeof mr->first_word));
        bytes += length;
        if (bytes > bytes_peak) bytes_peak = bytes.load();
        return mr;
    }
    int dereg_mr(ibv_mr* mr) noexcept override {
        ++deregistered;
        bytes -= mr->length;
        delete static_cast<Pinned*>(mr);
        return 0;
    }

    int renew_mr(ibv_mr*) noexcept override { return EOPNOTSUPP; }
    ibv_pd* alloc_pd() noexcept override { return nullptr; }
    int dealloc_pd(ibv_pd*) noexcept override { return 0; }
    void* allocate(size_t) noexcept override { return nullptr; }
    void release(void*, size_t) noexcept override {}
    ibv_comp_channel* create_comp_channel() noexcept override { return nullptr; }
    int destroy_comp_channel(ibv_comp_channel*) noexcept override { return 0; }
    int get_cq_event(ibv_comp_channel*, ibv_cq**, void**) noexcept override { return -1; }
    void ack_cq_events(ibv_cq*, unsigned) noexcept override {}
    ibv_cq* create_cq(int, void*, ibv_comp_channel*) noexcept override { return nullptr; }
    int destroy_cq(ibv_cq*) noexcept override { return 0; }
    ibv_srq* create_srq(ibv_pd*, ibv_srq_init_attr*) noexcept override { return nullptr; }
    int modify_srq(ibv_srq*, ibv_srq_attr*, int) noexcept override { return 0; }
    int destroy_srq(ibv_srq*) noexcept override { return 0; }
    int async_fd() const noexcept override { return -1; }
    int get_async_event(ibv_async_event*) noexcept override { return -1; }
    void ack_async_event(ibv_async_event*) noexcept override {}
    ibv_qp* create_qp(ibv_pd*, ibv_qp_init_attr*) noexcept override { return nullptr; }
    int modify_qp(ibv_qp*, ibv_qp_attr*, int) noexcept override { return 0; }
    int destroy_qp(ibv_qp*) noexcept override { return 0; }
    ibv_ah* create_ah(ibv_pd*, ibv_ah_attr*) noexcept override { return nullptr; }
    int destroy_ah(ibv_ah*) noexcept override { return 0; }
    uint64_t rnr_naks() const noexcept override { return 0; }
};

} // namespace rig
