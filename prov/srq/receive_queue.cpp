// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/receive_queue.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "srq/posting.hpp"

#include <algorithm>

namespace odrc::srq {
namespace {

constexpr uint32_t kMostInSlab = 256; // of 8 KiB each: some 2 MiB, or a huge page

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

// Where memory is out, what there is must do.
void ReceiveQueue::post(uint32_t count) noexcept {
    const uint32_t posted = post_receives(
        count, pool_.buffer_size(), [this] { return pool_.take(); },
        [this](ibv_recv_wr* first, ibv_recv_wr** bad) {
            return ibv_post_srq_recv(srq_.get(), first, bad);
        },
        [this](Buffer* buffer) { pool_.give_back(buffer); });
    posted_ += posted;
    posted_in_round_ += posted;
    counters_.srq_buffers_peak = std::max<uint64_t>(counters_.srq_buffers_peak, posted_);
}

} // namespace odrc::srq
