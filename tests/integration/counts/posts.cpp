// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The calls through which all goes that is posted (ibv_context::ops), or that the program writes
// itself (verbs::DirectOps): ours count, and leave the rest to the device. So the provider need not
// count on anybody's behalf.

#include "posts.hpp"

#include "ofi/domain.hpp"

namespace counts {
namespace {

decltype(ibv_context_ops::post_send) device_post_send;
decltype(ibv_context_ops::post_srq_recv) device_post_srq_recv;
decltype(ibv_context_ops::post_recv) device_post_recv;
decltype(odrc::verbs::DirectOps::begin_write) device_begin_write;

thread_local Observation* here = nullptr;

bool counts() noexcept { return here && here->on; }

int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
    if (counts()) {
        ++here->doorbells;
        for (const ibv_send_wr* wr = list; wr; wr = wr->next) {
            ++here->work_requests;
            for (int i = 0; i < wr->num_sge; ++i) here->wire_bytes += wr->sg_list[i].length;
        }
    }
    return device_post_send(qp, list, bad);
}

void count_receives(const ibv_recv_wr* list) noexcept {
    if (!counts()) return;
    ++here->receive_doorbells;
    for (; list; list = list->next) ++here->receive_requests;
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
    count_receives(list);
    return device_post_srq_recv(srq, list, bad);
}

int post_recv(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
    count_receives(list);
    return device_post_recv(qp, list, bad);
}

std::byte* begin_write(ibv_qp* qp, uint64_t address, uint32_t rkey, uint32_t length) {
    std::byte* const to = device_begin_write(qp, address, rkey, length);
    if (to && counts()) {
        ++here->direct_writes;
        here->wire_bytes += length;
    }
    return to;
}

} // namespace

void count_posts_in(Observation& observation, fid_domain& domain) {
    here = &observation;
    odrc::verbs::Adapter& adapter = static_cast<odrc::ofi::Domain&>(domain).adapter();
    ibv_context_ops& ops = adapter.pd()->context->ops;
    if (ops.post_send == post_send) return;
    odrc::verbs::DirectOps& direct = adapter.context().direct();
    device_begin_write = direct.begin_write;
    if (device_begin_write) direct.begin_write = begin_write;
    device_post_send = ops.post_send;
    device_post_srq_recv = ops.post_srq_recv;
    device_post_recv = ops.post_recv;
    ops.post_send = post_send;
    ops.post_srq_recv = post_srq_recv;
    ops.post_recv = post_recv;
}

} // namespace counts
