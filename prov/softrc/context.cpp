// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/context.hpp"

#include "softrc/completion_queue.hpp"
#include "softrc/queue_pair.hpp"

#include <algorithm>
#include <cerrno>

namespace odrc::soft {
namespace {

struct ProtectionDomain : ibv_pd {
    uint32_t number{0};
};

uint32_t number_of(const ibv_pd* pd) noexcept {
    return static_cast<const ProtectionDomain*>(pd)->number;
}

// ---- the data path, as ibv_context::ops finds it ----

int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) {
    return static_cast<CompletionQueue*>(cq)->poll(count, wc);
}
int req_notify_cq(ibv_cq* cq, int solicited_only) {
    static_cast<CompletionQueue*>(cq)->arm(solicited_only != 0);
    return 0;
}
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
    return static_cast<SharedReceiveQueue*>(srq)->queue.post(wr, bad_wr);
}
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
    return static_cast<QueuePair*>(qp)->post_send(wr, bad_wr);
}
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
    return static_cast<QueuePair*>(qp)->post_receive(wr, bad_wr);
}

} // namespace

SoftContext::SoftContext(ibv_device& device)
    : process_{Process::open()}
    , rnr_before_{process_->rnr_naks()} {
    context_.device = &device;
    context_.cmd_fd = context_.async_fd = -1;
    context_.num_comp_vectors = 1;
    context_.ops.poll_cq = poll_cq;
    context_.ops.req_notify_cq = req_notify_cq;
    context_.ops.post_srq_recv = post_srq_recv;
    context_.ops.post_send = post_send;
    context_.ops.post_recv = post_recv;
}

SoftContext::~SoftContext() = default;

ibv_pd* SoftContext::alloc_pd() noexcept {
    static std::atomic<uint32_t> numbers{0};
    auto* pd = new (std::nothrow) ProtectionDomain{};
    if (!pd) {
        errno = ENOMEM;
        return nullptr;
    }
    pd->context = &context_;
    pd->number = ++numbers;
    return pd;
}

int SoftContext::dealloc_pd(ibv_pd* pd) noexcept {
    delete static_cast<ProtectionDomain*>(pd);
    return 0;
}

ibv_mr* SoftContext::reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept {
    // IBTA 1.4, 11.2.8.2: remote write and atomics need local write.
    constexpr int kWrites = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if (access & kWrites && !(access & IBV_ACCESS_LOCAL_WRITE)) {
        errno = EINVAL;
        return nullptr;
    }
    auto* mr = new (std::nothrow) ibv_mr{};
    const uint32_t key = mr ? process_->regions().add(number_of(pd), address, length, access) : 0;
    if (key == 0) {
        delete mr;
        errno = ENOMEM;
        return nullptr;
    }
    mr->context = &context_;
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = mr->rkey = key;
    return mr;
}

int SoftContext::dereg_mr(ibv_mr* mr) noexcept {
    process_->regions().remove(mr->rkey);
    process_->wait_for_senders();
    delete mr;
    return 0;
}

void* SoftContext::allocate(size_t bytes) noexcept {
    OwnArena& arena = process_->arena();
    const uint64_t offset = arena.allocate(bytes);
    if (offset == 0) errno = ENOMEM;
    return offset == 0 ? nullptr : arena.at<std::byte>(offset);
}

void SoftContext::release(void* memory, size_t bytes) noexcept {
    OwnArena& arena = process_->arena();
    arena.release(arena.offset_of(memory), bytes);
}

ibv_comp_channel* SoftContext::create_comp_channel() noexcept {
    return CompletionChannel::create(&context_);
}

int SoftContext::destroy_comp_channel(ibv_comp_channel* channel) noexcept {
    delete static_cast<CompletionChannel*>(channel);
    return 0;
}

int SoftContext::get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept {
    for (;;) {
        uint64_t token = 0;
        const ssize_t n = read(channel->fd, &token, sizeof token);
        if (n < 0) return -1;
        // Events of queues that have gone since are passed over.
        CompletionQueue* found = process_->completion_queues().find(token);
        if (n != sizeof token || !found || found->channel != channel) continue;
        *cq = found;
        *cq_context = found->cq_context;
        return 0;
    }
}

void SoftContext::ack_cq_events(ibv_cq*, unsigned) noexcept {
    // An event is a number in a pipe: a queue may go away with events under way.
}

ibv_cq* SoftContext::create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept {
    if (cqe < 1 || cqe > static_cast<int>(kMaxCompletions)) {
        errno = EINVAL;
        return nullptr;
    }
    return CompletionQueue::create(*process_, &context_, cqe, cq_context,
                                   static_cast<CompletionChannel*>(channel));
}

int SoftContext::destroy_cq(ibv_cq* cq) noexcept {
    delete static_cast<CompletionQueue*>(cq);
    return 0;
}

ibv_srq* SoftContext::create_srq(ibv_pd* pd, ibv_srq_init_attr* init) noexcept {
    const ibv_srq_attr& attr = init->attr;
    if (attr.max_wr < 1 || attr.max_wr > kMaxWorkRequests || attr.max_sge < 1 ||
        attr.max_sge > kMaxReceiveSegments) {
        errno = EINVAL;
        return nullptr;
    }
    auto* srq = new (std::nothrow) SharedReceiveQueue{*process_, number_of(pd), attr};
    if (!srq || !srq->queue.ok()) {
        delete srq;
        errno = ENOMEM;
        return nullptr;
    }
    srq->context = &context_;
    srq->srq_context = init->srq_context;
    srq->pd = pd;
    return srq;
}

int SoftContext::destroy_srq(ibv_srq* srq) noexcept {
    delete static_cast<SharedReceiveQueue*>(srq);
    return 0;
}

ibv_qp* SoftContext::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept {
    return QueuePair::create(*process_, pd, number_of(pd), attr);
}

int SoftContext::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept {
    return static_cast<QueuePair*>(qp)->modify(*attr, mask);
}

int SoftContext::destroy_qp(ibv_qp* qp) noexcept {
    delete static_cast<QueuePair*>(qp);
    return 0;
}

ibv_gid SoftContext::gid() const noexcept {
    ibv_gid gid;
    std::ranges::copy(process_->node().id(), gid.raw);
    return gid;
}

uint64_t SoftContext::rnr_naks() const noexcept { return process_->rnr_naks() - rnr_before_; }

} // namespace odrc::soft
