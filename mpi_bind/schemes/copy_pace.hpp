// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/costs.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace odrc::mpi {

// Whether the caches hold what messages lie in, as far as copying it tells. They are large enough
// for it or not; but they are others' as well, and where processes come to another processor, what
// they have just used may be in a cache that is far from that: then a copy in two or three takes
// ten times as long.
class CopyPace {
public:
    static constexpr size_t kLeast = 4096;     // bytes of a copy that tells
    static constexpr size_t kLeastPiece = 512; // of shorter ones, what each takes is felt
    static constexpr uint32_t kTold = 512;     // messages for which it counts what copies told

    // So many bytes of data in pieces of that mean length, in nanoseconds.
    void copied(size_t bytes, uint64_t piece, double took, const SchemeCosts& costs) noexcept {
        if (bytes < kLeast || piece < kLeastPiece) return;
        const auto all = static_cast<double>(bytes);
        const double fetching =
            took - all * costs.copied_byte - all / static_cast<double>(piece) * costs.copied_piece;
        slow_ = slow_ << 1 | (fetching > all * costs.fetched_byte / 2);
        chosen_ = 0;
    }
    // One more message is about to go. When many went by ways that do not copy, it is time to see
    // what copying takes now.
    void chosen() noexcept {
        if (++chosen_ >= kTold) slow_ = 0;
    }
    bool is_slow() const noexcept { return std::popcount(slow_) >= kMany; }

private:
    static constexpr int kMany = 8; // of the last 32

    uint32_t slow_{0}; // the last copies, the newest one lowest
    uint32_t chosen_{0};
};

} // namespace odrc::mpi
