// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/receive_queue.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "verbs_rc/work_id.hpp"

#include <algorithm>

namespace odrc::srq {
namespace {

constexpr uint32_t kMostInSlab = 32;

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
                           Depth depth)
    : adapter_{adapter}
    , counters_{counters}
    , pool_{adapter, counters, buffer_size, std::min(depth.least, kMostInSlab)}
    , srq_{make_srq(adapter, depth.most)}
    , limits_{depth}
    , depth_{depth.least} {
    set_depth(depth.least);
    pool_.reserve(depth_);
    post(depth_);
    if (posted_ < depth_) throw Error{FI_ENOMEM};
    adapter_.events().watch(*srq_.get(), low_);
    arm();
}

ReceiveQueue::~ReceiveQueue() { adapter_.events().watch_no_more(*srq_.get()); }

void ReceiveQueue::arm() noexcept {
    ibv_srq_attr attr{};
    attr.srq_limit = depth_ / 4;
    if (const int error = adapter_.context().modify_srq(srq_.get(), &attr, IBV_SRQ_LIMIT))
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: it does not tell when receives run low: {}",
                  adapter_.port().name(), fi_strerror(error));
}

void ReceiveQueue::deepen() noexcept {
    posted_in_round_ = 0;
    set_depth(std::min(2 * depth_, limits_.most));
    if (posted_ < depth_) post(depth_ - posted_);
}

// Much has come, and it never ran low. What is posted comes back with what comes next.
bool ReceiveQueue::end_round() noexcept {
    posted_in_round_ = 0;
    if (depth_ == limits_.least) return false;
    const auto slab = static_cast<uint32_t>(pool_.slab_count());
    set_depth(std::max(limits_.least, depth_ - std::min(slab, depth_)));
    pool_.give_up_slab();
    return true;
}

void ReceiveQueue::post(uint32_t count) noexcept {
    while (count > 0) {
        ibv_recv_wr requests[kBatch];
        ibv_sge segments[kBatch];
        uint32_t n = std::min(count, kBatch);
        for (uint32_t i = 0; i < n; ++i) {
            const Buffer* buffer = pool_.take();
            if (!buffer) { // no memory: what there is must do
                if (i == 0) return;
                requests[i - 1].next = nullptr;
                count = n = i;
                break;
            }
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
        posted_in_round_ += n;
        count -= n;
    }
    counters_.srq_buffers_peak = std::max<uint64_t>(counters_.srq_buffers_peak, posted_);
}

} // namespace odrc::srq
