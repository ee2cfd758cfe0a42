// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/lane.hpp"

#include "ondemand/peer.hpp"

namespace odrc::ondemand {

Lane::~Lane() {
    if (ring_) station_.rings().remove(*this);
    posting_.forget(qp_.get());
    budget_.left += used();
    while (kept_) give_back_kept();
    for (srq::Buffer* frame = early_; frame; frame = early_) {
        forget_early();
        if (!receives_) station_.take_back(frame);
    }
}

void Lane::keep_early(srq::Buffer& frame) noexcept {
    frame.next = nullptr;
    (early_ ? last_early_->next : early_) = &frame;
    last_early_ = &frame;
    ++peer_.early;
}

void Lane::forget_early() noexcept {
    early_ = early_->next;
    --peer_.early;
}

void Lane::earn(const ibv_send_wr& wr) noexcept {
    static const Ticks within = ticks_of(kEarnedWithin);
    if (ticks_now() - earns_since_ > within) begin_earning();
    ++messages_;
    for (int i = 0; i < wr.num_sge; ++i) bytes_ += wr.sg_list[i].length;
}

void Lane::probe() noexcept {
    if (!has_place()) return;
    const bool visited = visited_;
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    post(wr, verbs::WorkKind::lane, this);
    visited_ = visited;
}

srq::Buffer* Lane::take_kept(uint16_t position) noexcept {
    const auto done = static_cast<uint16_t>(position - retired_ - 1);
    while (kept_ && static_cast<uint16_t>(kept_->position - retired_ - 1) < done) give_back_kept();
    if (!kept_ || kept_->position != position) return nullptr;
    srq::Buffer* copy = kept_;
    kept_ = copy->next;
    return copy;
}

void Lane::fail() noexcept {
    failed_ = attended_ = true;
    qp_.fail();
    posting_.post_held(qp_.get()); // to be flushed with the rest
    try_mark();
}

void Lane::try_mark() noexcept {
    if (marked_ || used() >= depth_ || budget_.left == 0) return;
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED;
    marked_ = post(wr, verbs::WorkKind::lane, this) == 0;
}

} // namespace odrc::ondemand
