// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "srq/buffer_pool.hpp"

namespace odrc::srq {

// The one queue into which all peers send: a shared receive queue, kept filled from a pool.
class ReceiveQueue {
public:
    // Throws Error.
    ReceiveQueue(verbs::Adapter& adapter, Counters& counters, size_t buffer_size, uint32_t depth);

    ibv_srq* get() const noexcept { return srq_.get(); }

    // The buffer of a completed receive is read and may be filled again.
    void give_back(Buffer* buffer) noexcept {
        pool_.give_back(buffer);
        --posted_;
    }

    // Posts what is missing, a batch at a time.
    void refill() noexcept {
        if (depth_ - posted_ >= kBatch) post(depth_ - posted_);
    }

private:
    static constexpr uint32_t kBatch = 16;
    void post(uint32_t count) noexcept;

    BufferPool pool_;
    verbs::Srq srq_;
    const uint32_t depth_;
    uint32_t posted_{0};
};

} // namespace odrc::srq
