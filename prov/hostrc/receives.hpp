// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <infiniband/verbs.h>
#include <mutex>
#include <vector>

namespace odrc::host {

inline constexpr uint32_t kReceiveSegments = 4;

// A receive that was posted.
struct Receive {
    uint64_t wr_id;
    uint32_t segment_count;
    std::array<ibv_sge, kReceiveSegments> segments;

    uint64_t length() const noexcept {
        uint64_t length = 0;
        for (uint32_t i = 0; i < segment_count; ++i) length += segments[i].length;
        return length;
    }
};

// Receives that wait for messages: of a shared receive queue, or of a queue pair alone.
class Receives {
public:
    // Throws std::bad_alloc.
    explicit Receives(uint32_t most)
        : ring_(most) {}

    int post(ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
        const std::lock_guard guard{lock_};
        for (; wr; wr = wr->next) {
            const bool fits = static_cast<uint32_t>(wr->num_sge) <= kReceiveSegments;
            if (!fits || count_ + held_ == ring_.size()) {
                *bad = wr;
                return fits ? ENOMEM : EINVAL;
            }
            Receive& r = ring_[(first_ + count_++) % ring_.size()];
            r.wr_id = wr->wr_id;
            r.segment_count = static_cast<uint32_t>(wr->num_sge);
            std::copy_n(wr->sg_list, r.segment_count, r.segments.begin());
        }
        return 0;
    }

    // False where there is none. It is held until it is done with, or put back, for so long does
    // the program count on its place. limit_reached: there are fewer left than the limit, for the
    // first time since that was set.
    bool take(Receive& out, bool& limit_reached) noexcept {
        const std::lock_guard guard{lock_};
        if (count_ == 0) return false;
        out = ring_[first_];
        first_ = (first_ + 1) % ring_.size();
        --count_;
        ++held_;
        limit_reached = count_ < limit_;
        if (limit_reached) limit_ = 0;
        return true;
    }

    void done() noexcept {
        const std::lock_guard guard{lock_};
        --held_;
    }
    // Its message will not come: it is the next again.
    void put_back(const Receive& receive) noexcept {
        const std::lock_guard guard{lock_};
        --held_;
        first_ = (first_ + ring_.size() - 1) % ring_.size();
        ring_[first_] = receive;
        ++count_;
    }

    // As ibv_modify_srq(3) with IBV_SRQ_LIMIT. Gives whether there are fewer already.
    bool set_limit(uint32_t limit) noexcept {
        const std::lock_guard guard{lock_};
        const bool reached = count_ < limit;
        limit_ = reached ? 0 : limit;
        return reached;
    }

private:
    SpinLock lock_;
    std::vector<Receive> ring_;
    size_t first_{0};
    size_t count_{0};
    size_t held_{0};
    uint32_t limit_{0}; // 0: nobody wants to know
};

} // namespace odrc::host
