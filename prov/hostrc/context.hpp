// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "base/spin_lock.hpp"
#include "hostrc/regions.hpp"
#include "verbs_rc/device.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace odrc::host {

class CompletionQueue;

// A device whose connections this process keeps itself, over the datagrams of another one: of that
// it needs nothing else but registered memory.
class HostContext final : public verbs::Context {
public:
    // room: as make_host_device has it. Throws Error.
    HostContext(std::unique_ptr<verbs::Context> device, ibv_device& name, const verbs::Port& port,
                size_t room);
    // Over a device that others use, too, in a protection domain of theirs: what goes out may lie
    // in whatever memory they have registered. Both outlive this. Throws Error.
    HostContext(verbs::Context& device, ibv_pd* pd, ibv_device& name, const verbs::Port& port,
                size_t room);
    ~HostContext() override;

    ibv_pd* alloc_pd() noexcept override { return shared() ? pd_ : pd_ = device_.alloc_pd(); }
    int dealloc_pd(ibv_pd* pd) noexcept override;
    ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept override;
    int dereg_mr(ibv_mr* mr) noexcept override;
    int renew_mr(ibv_mr* mr) noexcept override { return device_.renew_mr(mr); }
    void* allocate(size_t bytes) noexcept override { return device_.allocate(bytes); }
    void release(void* memory, size_t bytes) noexcept override { device_.release(memory, bytes); }
    ibv_comp_channel* create_comp_channel() noexcept override;
    int destroy_comp_channel(ibv_comp_channel* channel) noexcept override;
    int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept override;
    void ack_cq_events(ibv_cq*, unsigned) noexcept override {}
    ibv_cq* create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept override;
    int destroy_cq(ibv_cq* cq) noexcept override;
    ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) noexcept override;
    int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept override;
    int destroy_srq(ibv_srq* srq) noexcept override;
    int async_fd() const noexcept override { return events_.get(); }
    int get_async_event(ibv_async_event* event) noexcept override;
    void ack_async_event(ibv_async_event* event) noexcept override;
    ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept override;
    int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept override;
    int destroy_qp(ibv_qp* qp) noexcept override;
    ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept override {
        return device_.create_ah(pd, attr);
    }
    int destroy_ah(ibv_ah* ah) noexcept override { return device_.destroy_ah(ah); }
    ibv_gid gid() const noexcept override { return device_.gid(); }
    uint64_t node() const noexcept override { return device_.node(); }
    uint64_t rnr_naks() const noexcept override {
        return not_ready_.load(std::memory_order_relaxed);
    }
    // The datagrams' queue pair, and the number of the connection, which its first packet's number
    // stands for: those begin at 0, and what comes for another connection has another number.
    std::optional<verbs::Identity> identity(const ibv_qp& qp) const noexcept override;
    uint32_t datagrams(ibv_cq& cq) const noexcept override;
    size_t bytes_for_datagrams(ibv_cq& cq) const noexcept override;
    std::atomic<bool>* called(ibv_cq& cq) const noexcept override;
    void count_packets(ibv_cq& cq, PacketCounts& counts) noexcept override;

    // ---- for its own objects ----
    verbs::Context& device() noexcept { return device_; }
    const verbs::Port& port() const noexcept { return port_; } // of the device below
    ibv_pd* pd() const noexcept { return pd_; }                // the last that was made; null: none
    size_t room() const noexcept { return room_; }
    ibv_context& verbs() noexcept { return verbs_; }
    Regions& regions() noexcept { return regions_; }
    // The device is not its own alone, and it does not know of all that is registered there.
    bool shared() const noexcept { return !owned_; }
    void add(CompletionQueue& queue);
    void remove(CompletionQueue& queue) noexcept;
    void raise_limit(ibv_srq& srq) noexcept;
    void count_not_ready() noexcept { not_ready_.fetch_add(1, std::memory_order_relaxed); }

private:
    HostContext(verbs::Context& device, std::unique_ptr<verbs::Context> owned, ibv_pd* pd,
                ibv_device& name, const verbs::Port& port, size_t room);
    bool watch(int fd) const noexcept;

    const std::unique_ptr<verbs::Context> owned_; // null: it is shared
    verbs::Context& device_;
    verbs::Port port_;
    const size_t room_;
    ibv_context verbs_{};
    ibv_pd* pd_;
    Regions regions_;
    Fd own_events_;
    Fd events_; // readable, if there are some of ours or of the device's
    std::atomic<uint64_t> not_ready_{0};
    std::atomic<uint32_t> numbers_; // of connections
    std::mutex queues_lock_;        // guards them; comes before theirs
    std::vector<CompletionQueue*> queues_;
    SpinLock lock_;             // guards what follows; comes behind those of queues
    std::vector<ibv_srq*> low_; // whose limit was reached
};

} // namespace odrc::host
