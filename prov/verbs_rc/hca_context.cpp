// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/hca_context.hpp"

#include "base/log.hpp"

#include <fstream>
#include <sys/mman.h>

namespace odrc::verbs {
namespace {

// All that is ever posted to a connection here (lanes, own_words.cpp).
constexpr uint64_t kOperations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
                                 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

constexpr size_t kHugePage = size_t{2} << 20;

// What is mapped for so many bytes: whole huge pages, where little of them is left over.
constexpr size_t mapped_for(size_t bytes) noexcept {
    const size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    return whole - bytes <= bytes / 16 ? whole : bytes;
}

} // namespace

HcaContext::HcaContext(ibv_context* context, const Port& port)
    : context_{context} {
    // The requester's count of RNR NAKs has a name of its own in every driver.
    const std::string counters = "/sys/class/infiniband/" + port.device + "/ports/" +
                                 std::to_string(port.number) + "/hw_counters/";
    for (const char* name : {"rcvd_rnr_err", "rnr_nak_retry_err"}) {
        if (std::ifstream{counters + name}.good()) rnr_counter_ = counters + name;
    }
    rnr_before_ = read_rnr_counter();
}

HcaContext::~HcaContext() { ibv_close_device(context_); }

ibv_pd* HcaContext::alloc_pd() noexcept { return ibv_alloc_pd(context_); }
int HcaContext::dealloc_pd(ibv_pd* pd) noexcept { return ibv_dealloc_pd(pd); }

ibv_mr* HcaContext::reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept {
    return ibv_reg_mr(pd, address, length, access);
}
int HcaContext::dereg_mr(ibv_mr* mr) noexcept { return ibv_dereg_mr(mr); }

int HcaContext::renew_mr(ibv_mr* mr) noexcept {
    const uint32_t local = mr->lkey, remote = mr->rkey;
    errno = 0;
    if (ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, mr->addr, mr->length, 0) != 0)
        return errno ? errno : EIO;
    return mr->lkey == local && mr->rkey == remote ? 0 : EIO; // the program has the old ones
}

// Of huge pages, if the system gives any (madvise(2), MADV_HUGEPAGE): what is registered is there
// in whole anyway, and the device has fewer addresses to keep.
void* HcaContext::allocate(size_t bytes) noexcept {
    const size_t wanted = mapped_for(bytes);
    const size_t spare = wanted % kHugePage == 0 ? kHugePage : 0; // to begin where one does
    void* mapped =
        mmap(nullptr, wanted + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    if (spare == 0) return mapped;
    auto* const begin = static_cast<std::byte*>(mapped);
    const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + wanted, spare - before);
    madvise(begin + before, wanted, MADV_HUGEPAGE);
    return begin + before;
}
void HcaContext::release(void* memory, size_t bytes) noexcept { munmap(memory, mapped_for(bytes)); }

ibv_comp_channel* HcaContext::create_comp_channel() noexcept {
    return ibv_create_comp_channel(context_);
}
int HcaContext::destroy_comp_channel(ibv_comp_channel* channel) noexcept {
    return ibv_destroy_comp_channel(channel);
}
int HcaContext::get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept {
    return ibv_get_cq_event(channel, cq, cq_context);
}
void HcaContext::ack_cq_events(ibv_cq* cq, unsigned count) noexcept {
    ibv_ack_cq_events(cq, count);
}

ibv_cq* HcaContext::create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept {
    return ibv_create_cq(context_, cqe, cq_context, channel, 0);
}
int HcaContext::destroy_cq(ibv_cq* cq) noexcept { return ibv_destroy_cq(cq); }

ibv_srq* HcaContext::create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) noexcept {
    return ibv_create_srq(pd, attr);
}
int HcaContext::modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept {
    return ibv_modify_srq(srq, attr, mask);
}
int HcaContext::destroy_srq(ibv_srq* srq) noexcept { return ibv_destroy_srq(srq); }

int HcaContext::get_async_event(ibv_async_event* event) noexcept {
    return ibv_get_async_event(context_, event);
}
void HcaContext::ack_async_event(ibv_async_event* event) noexcept { ibv_ack_async_event(event); }

// A driver that is told what will be sent need not keep room for anything else in each place of the
// send queue: mlx5 keeps 192 bytes there for the binding of memory windows, where the longest of
// these operations takes 48 ahead of its data. Most drivers cannot be told, and each says so with
// an error of its own.
ibv_qp* HcaContext::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept {
    if (attr->qp_type != IBV_QPT_RC) return ibv_create_qp(pd, attr);
    if (tells_operations_.load(std::memory_order_relaxed)) {
        ibv_qp_init_attr_ex ex{};
        ex.qp_context = attr->qp_context;
        ex.send_cq = attr->send_cq;
        ex.recv_cq = attr->recv_cq;
        ex.srq = attr->srq;
        ex.cap = attr->cap;
        ex.qp_type = attr->qp_type;
        ex.sq_sig_all = attr->sq_sig_all;
        ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        ex.pd = pd;
        ex.send_ops_flags = kOperations;
        if (ibv_qp* qp = ibv_create_qp_ex(context_, &ex)) {
            attr->cap = ex.cap;
            return qp;
        }
    }
    // If it is not that, but the rest of the wish, this says what it is.
    ibv_qp* qp = ibv_create_qp(pd, attr);
    if (qp && tells_operations_.exchange(false, std::memory_order_relaxed))
        ODRC_INFO(FI_LOG_DOMAIN, "{}: its queue pairs have room for all operations that there are",
                  context_->device->name);
    return qp;
}
int HcaContext::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept {
    return ibv_modify_qp(qp, attr, mask);
}
int HcaContext::destroy_qp(ibv_qp* qp) noexcept { return ibv_destroy_qp(qp); }

ibv_ah* HcaContext::create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept {
    return ibv_create_ah(pd, attr);
}
int HcaContext::destroy_ah(ibv_ah* ah) noexcept { return ibv_destroy_ah(ah); }

uint64_t HcaContext::read_rnr_counter() const noexcept {
    uint64_t value = 0;
    if (!rnr_counter_.empty()) std::ifstream{rnr_counter_} >> value;
    return value;
}
uint64_t HcaContext::rnr_naks() const noexcept { return read_rnr_counter() - rnr_before_; }

} // namespace odrc::verbs
