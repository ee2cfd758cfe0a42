// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/context.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "softrc/completion_queue.hpp"
#include "softrc/faults.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/transitions.hpp"

#include <algorithm>
#include <cerrno>

namespace odrc::soft {
namespace {

struct ProtectionDomain : ibv_pd {
    uint32_t number{0};
    std::atomic<int> leaning{0}; // objects that belong to it
};

std::atomic<int>& leaning_on(ibv_pd* pd) noexcept {
    return static_cast<ProtectionDomain*>(pd)->leaning;
}

uint32_t number_of(const ibv_pd* pd) noexcept {
    return static_cast<const ProtectionDomain*>(pd)->number;
}

// ---- the data path, as ibv_context::ops and verbs::DirectOps find it ----

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
std::byte* begin_write(ibv_qp* qp, uint64_t address, uint32_t rkey, uint32_t length) {
    return static_cast<QueuePair*>(qp)->begin_write(address, rkey, length);
}
void end_write(ibv_qp* qp) { static_cast<QueuePair*>(qp)->end_write(); }

} // namespace

SoftContext::SoftContext(ibv_device& device, const verbs::Port& port)
    : process_{Process::open()}
    , port_{port}
    , rnr_before_{process_->rnr_naks()} {
    if (!events_.ok()) {
        ODRC_WARN(FI_LOG_DOMAIN, "soft0: no pipe for its events: {}", fi_strerror(errno));
        throw Error{errno};
    }
    context_.sz = sizeof context_;
    context_.priv = reinterpret_cast<verbs_ex_private*>(this);
    ibv_context& c = context_.context;
    c.abi_compat = __VERBS_ABI_IS_EXTENDED;
    c.device = &device;
    c.cmd_fd = -1;
    c.async_fd = events_.fd();
    c.num_comp_vectors = 1;
    c.ops.poll_cq = poll_cq;
    c.ops.req_notify_cq = req_notify_cq;
    c.ops.post_srq_recv = post_srq_recv;
    c.ops.post_send = post_send;
    c.ops.post_recv = post_recv;
    direct() = {.begin_write = begin_write, .end_write = end_write};
}

SoftContext::~SoftContext() = default;

ibv_pd* SoftContext::alloc_pd() noexcept {
    static std::atomic<uint32_t> numbers{0};
    auto* pd = new (std::nothrow) ProtectionDomain{};
    if (!pd) {
        errno = ENOMEM;
        return nullptr;
    }
    pd->context = &context_.context;
    pd->number = ++numbers;
    return pd;
}

int SoftContext::dealloc_pd(ibv_pd* pd) noexcept {
    if (leaning_on(pd) > 0) return EBUSY;
    delete static_cast<ProtectionDomain*>(pd);
    return 0;
}

ibv_mr* SoftContext::reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept {
    return reg_mr_iova(pd, address, length, reinterpret_cast<uint64_t>(address), access);
}

ibv_mr* SoftContext::reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova,
                                 int access) noexcept {
    // IBTA 1.4, 11.2.8.2: remote write and atomics need local write.
    constexpr int kWrites = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if (access & kWrites && !(access & IBV_ACCESS_LOCAL_WRITE)) {
        errno = EINVAL;
        return nullptr;
    }
    read_faults(false);
    errno = ENOMEM;
    std::unique_ptr<ibv_mr> mr{fault_fails_registration() ? nullptr : new (std::nothrow) ibv_mr{}};
    if (!mr) return nullptr;
    const uint32_t key = process_->regions().add(number_of(pd), address, length, iova, access);
    if (key == 0) return nullptr;
    mr->context = &context_.context;
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = mr->rkey = key;
    ++leaning_on(pd);
    return mr.release();
}

int SoftContext::dereg_mr(ibv_mr* mr) noexcept {
    process_->regions().remove(mr->rkey);
    process_->wait_for_senders();
    --leaning_on(mr->pd);
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
    return CompletionChannel::create(&context_.context);
}

int SoftContext::destroy_comp_channel(ibv_comp_channel* channel) noexcept {
    auto* used = static_cast<CompletionChannel*>(channel);
    if (used->leaning > 0) return EBUSY;
    delete used;
    return 0;
}

int SoftContext::get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept {
    auto& pipe = static_cast<CompletionChannel*>(channel)->pipe;
    for (uint64_t token; pipe.read(token);) {
        // Events of queues that have gone since are passed over.
        CompletionQueue* found = process_->completion_queues().find(token);
        if (!found || found->channel != channel) continue;
        *cq = found;
        *cq_context = found->cq_context;
        return 0;
    }
    return -1;
}

void SoftContext::ack_cq_events(ibv_cq*, unsigned) noexcept {
    // An event is a number in a pipe: a queue may go away with events under way.
}

ibv_cq* SoftContext::create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept {
    if (cqe < 1 || cqe > static_cast<int>(kMaxCompletions)) {
        errno = EINVAL;
        return nullptr;
    }
    return CompletionQueue::create(*process_, &context_.context, cqe, cq_context,
                                   static_cast<CompletionChannel*>(channel), events_.name());
}

int SoftContext::destroy_cq(ibv_cq* cq) noexcept {
    auto* queue = static_cast<CompletionQueue*>(cq);
    if (queue->leaning > 0) return EBUSY;
    delete queue;
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
    if (!srq || !srq->queue.ok() || !srq->listed) {
        delete srq;
        errno = ENOMEM;
        return nullptr;
    }
    srq->context = &context_.context;
    srq->srq_context = init->srq_context;
    srq->pd = pd;
    ++leaning_on(pd);
    return srq;
}

int SoftContext::destroy_srq(ibv_srq* srq) noexcept {
    auto* queue = static_cast<SharedReceiveQueue*>(srq);
    if (queue->leaning > 0) return EBUSY;
    --leaning_on(srq->pd);
    delete queue;
    return 0;
}

ibv_qp* SoftContext::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept {
    QueuePair* qp = QueuePair::create(*process_, pd, number_of(pd), events_.name(), attr);
    if (qp) ++leaning_on(pd);
    return qp;
}

int SoftContext::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept {
    return static_cast<QueuePair*>(qp)->modify(*attr, mask);
}

int SoftContext::destroy_qp(ibv_qp* qp) noexcept {
    --leaning_on(qp->pd);
    delete static_cast<QueuePair*>(qp);
    return 0;
}

const std::byte* SoftContext::peer_memory(ibv_qp* qp, uint64_t address, uint32_t rkey,
                                          size_t length) noexcept {
    return static_cast<QueuePair*>(qp)->peer_memory(address, rkey, length);
}

bool SoftContext::is_far(ibv_qp* qp) noexcept { return static_cast<QueuePair*>(qp)->is_far(); }

ibv_ah* SoftContext::create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept {
    if (!may_reach(*attr)) {
        errno = EINVAL;
        return nullptr;
    }
    auto* handle = new (std::nothrow) AddressHandle{};
    if (!handle) {
        errno = ENOMEM;
        return nullptr;
    }
    handle->context = &context_.context;
    handle->pd = pd;
    handle->reachable = process_->reaches(*attr);
    ++leaning_on(pd);
    return handle;
}

int SoftContext::destroy_ah(ibv_ah* ah) noexcept {
    --leaning_on(ah->pd);
    delete static_cast<AddressHandle*>(ah);
    return 0;
}

ibv_gid SoftContext::gid() const noexcept {
    ibv_gid gid;
    std::ranges::copy(process_->node().id(), gid.raw);
    return gid;
}

uint64_t SoftContext::rnr_naks() const noexcept { return process_->rnr_naks() - rnr_before_; }

} // namespace odrc::soft
