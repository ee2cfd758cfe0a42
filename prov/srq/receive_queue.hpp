// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "srq/posting.hpp"

namespace odrc::srq {

// The one queue into which all peers send: a shared receive queue, kept filled from a pool. It
// becomes deeper when the device tells that it runs low (IBTA 1.4, 10.2.9.4), and shallower again
// when much has come and it did not.
class ReceiveQueue {
public:
    // Receives that wait: to begin with and at the least, and at the most.
    struct Depth {
        uint32_t least;
        uint32_t most;
    };

    // Throws Error.
    ReceiveQueue(verbs::Adapter& adapter, Counters& counters, size_t buffer_size, Depth depth);
    ~ReceiveQueue();

    ibv_srq* get() const noexcept { return srq_.get(); }
    uint32_t depth() const noexcept { return depth_; }

    // The buffer of a completed receive is read and may be filled again.
    void give_back(Buffer* buffer) noexcept {
        take_back(buffer);
        keep();
    }
    // It has come, and another one is to be posted in its stead: it stays as it is until it is
    // taken back.
    void keep() noexcept { --posted_; }
    void take_back(Buffer* buffer) noexcept { pool_.give_back(buffer); }

    // Posts what is missing, a batch at a time. True if the queue has become shallower.
    bool refill() noexcept {
        if (posted_ + batch_ > depth_) return false;
        post(depth_ - posted_);
        return posted_in_round_ >= kRound && end_round();
    }

    // The device has said so since this was last asked. It says it once for each arm().
    bool runs_low() noexcept {
        return low_.load(std::memory_order_relaxed) &&
               low_.exchange(false, std::memory_order_acquire);
    }
    void arm() noexcept;
    // Twice as deep, as far as it may be.
    void deepen() noexcept;

private:
    static constexpr uint32_t kRound = 4096; // receives, after which it is looked at how low it ran
    void set_depth(uint32_t depth) noexcept {
        depth_ = depth;
        batch_ = std::min(kReceivesAtOnce, depth / 4);
    }
    void post(uint32_t count) noexcept;
    bool end_round() noexcept;

    verbs::Adapter& adapter_;
    Counters& counters_;
    BufferPool pool_;
    verbs::Srq srq_;
    const Depth limits_;
    uint32_t depth_;
    uint32_t batch_{1};
    uint32_t posted_{0};
    uint32_t posted_in_round_{0};
    std::atomic<bool> low_{false};
};

} // namespace odrc::srq
