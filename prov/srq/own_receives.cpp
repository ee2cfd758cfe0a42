// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/own_receives.hpp"

#include "base/error.hpp"
#include "srq/posting.hpp"

namespace odrc::srq {

OwnReceives::OwnReceives(BufferPool& pool, verbs::QueuePair& qp)
    : pool_{pool}
    , qp_{qp.get()} {
    pool_.reserve(pool_.taken() + all_.size());
    for (Buffer*& buffer : all_) {
        buffer = pool_.take();
        buffer->next = idle_;
        idle_ = buffer;
        ++idle_count_;
    }
    post();
    if (idle_) {
        for (Buffer* buffer : all_) pool_.give_back(buffer);
        throw Error{FI_ENOMEM};
    }
}

OwnReceives::~OwnReceives() {
    for (Buffer* buffer : all_) pool_.give_back(buffer);
}

void OwnReceives::post() noexcept {
    const auto keep = [this](Buffer* buffer) {
        buffer->next = idle_;
        idle_ = buffer;
    };
    const auto next = [this]() -> Buffer* {
        return idle_ ? std::exchange(idle_, idle_->next) : nullptr;
    };
    const auto call = [this](ibv_recv_wr* first, ibv_recv_wr** bad) {
        return ibv_post_recv(qp_, first, bad);
    };
    idle_count_ -= post_receives(idle_count_, pool_.buffer_size(), next, call, keep);
}

} // namespace odrc::srq
