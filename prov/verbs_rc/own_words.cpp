// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/own_words.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <sched.h>

namespace odrc::verbs {
namespace {

Cq make_cq(Adapter& adapter) {
    Cq cq{adapter.context(), adapter.context().create_cq(OwnWords::kAtOnce, nullptr, nullptr)};
    if (!cq) throw Error{errno};
    return cq;
}

} // namespace

OwnWords::OwnWords(Adapter& adapter, ibv_srq* srq)
    : adapter_{adapter}
    , cq_{make_cq(adapter)}
    , qp_{adapter,
          cq_.get(),
          srq,
          {.work_requests = kAtOnce, .segments = 1},
          IBV_ACCESS_REMOTE_ATOMIC}
    , place_{adapter.make_region(found_.data(), sizeof found_, IBV_ACCESS_LOCAL_WRITE)} {
    if (const int error = qp_.connect(qp_.address())) throw Error{error};
}

int OwnWords::swap(std::span<Swap> swaps, uint32_t rkey) noexcept {
    std::array<ibv_sge, kAtOnce> places;
    std::array<ibv_send_wr, kAtOnce> list;
    for (size_t i = 0; i < swaps.size(); ++i) {
        places[i] = {.addr = reinterpret_cast<uint64_t>(&found_[i]),
                     .length = sizeof found_[i],
                     .lkey = place_->lkey};
        ibv_send_wr& wr = list[i] = {};
        wr.next = i + 1 < swaps.size() ? &list[i + 1] : nullptr;
        wr.sg_list = &places[i];
        wr.num_sge = 1;
        wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
        wr.send_flags = wr.next ? 0 : IBV_SEND_SIGNALED;
        wr.wr.atomic.remote_addr = swaps[i].address;
        wr.wr.atomic.compare_add = swaps[i].from;
        wr.wr.atomic.swap = swaps[i].to;
        wr.wr.atomic.rkey = rkey;
    }
    ibv_send_wr* bad = nullptr;
    if (const int error = ibv_post_send(qp_.get(), list.data(), &bad)) return error;
    ibv_wc wc{};
    int polled;
    while ((polled = ibv_poll_cq(cq_.get(), 1, &wc)) == 0) sched_yield();
    if (polled < 0 || wc.status != IBV_WC_SUCCESS) {
        ODRC_WARN(FI_LOG_MR, "{}: the device does not change a word of our own: {}",
                  adapter_.port().name(),
                  polled < 0 ? "the queue is broken" : ibv_wc_status_str(wc.status));
        return EIO;
    }
    for (size_t i = 0; i < swaps.size(); ++i) swaps[i].found = found_[i];
    return 0;
}

} // namespace odrc::verbs
