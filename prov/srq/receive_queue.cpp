// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/receive_queue.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "verbs_rc/work_id.hpp"

#include <algorithm>

namespace odrc::srq {
namespace {

verbs::Srq make_srq(verbs::Adapter& adapter, uint32_t depth) {
    ibv_srq_init_attr attr{};
    attr.attr.max_wr = depth;
    attr.attr.max_sge = 1;
    ibv_srq* srq = adapter.context().create_srq(adapter.pd(), &attr);
    if (!srq) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no shared receive queue of {}: {}", adapter.port().name(),
                  depth, fi_strerror(errno));
        throw Error{errno};
    }
    return {adapter.context(), srq};
}

} // namespace

ReceiveQueue::ReceiveQueue(verbs::Adapter& adapter, Counters& counters, size_t buffer_size,
                           uint32_t depth)
    : pool_{adapter, counters, buffer_size, depth}
    , srq_{make_srq(adapter, depth)}
    , depth_{depth} {
    pool_.reserve(depth);
    post(depth);
    if (posted_ < depth) throw Error{FI_ENOMEM};
}

void ReceiveQueue::post(uint32_t count) noexcept {
    while (count > 0) {
        ibv_recv_wr requests[kBatch];
        ibv_sge segments[kBatch];
        const uint32_t n = std::min(count, kBatch);
        for (uint32_t i = 0; i < n; ++i) {
            const Buffer* buffer = pool_.take(); // one that was given back: see posted_
            segments[i] = {.addr = reinterpret_cast<uint64_t>(buffer->data),
                           .length = static_cast<uint32_t>(pool_.buffer_size()),
                           .lkey = buffer->lkey};
            requests[i] = {
                .wr_id = verbs::WorkId{verbs::WorkKind::receive, buffer, 0}.bits(),
                .next = i + 1 < n ? &requests[i + 1] : nullptr,
                .sg_list = &segments[i],
                .num_sge = 1,
            };
        }
        ibv_recv_wr* bad = nullptr;
        if (const int error = ibv_post_srq_recv(srq_.get(), requests, &bad)) {
            ODRC_WARN(FI_LOG_EP_DATA, "a receive could not be posted: {}", fi_strerror(error));
            for (ibv_recv_wr* wr = requests; wr; wr = wr->next) {
                if (wr == bad) {
                    for (; wr; wr = wr->next)
                        pool_.give_back(verbs::WorkId{wr->wr_id}.object<Buffer>());
                    return;
                }
                ++posted_;
            }
            return;
        }
        posted_ += n;
        count -= n;
    }
}

} // namespace odrc::srq
