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
        last_ = last_ << 1 | (fetching > all * costs.fetched_byte / 2);
        const int slow = std::popcount(last_);
        is_slow_ = is_slow_ ? slow > kFew : slow >= kMany;
        chosen_ = 0;
    }
    // One more message is about to go. When many went by ways that do not copy, it is time to see
    // what copying takes now.
    void chosen() noexcept {
        if (++chosen_ < kTold) return;
        last_ = 0;
        is_slow_ = false;
    }
    bool is_slow() const noexcept { return is_slow_; }

private:
    // Of the last 64, to be slow, and to be no more: what is slow is avoided then, and seldom felt.
    static constexpr int kMany = 8, kFew = 2;

    uint64_t last_{0}; // whether they were slow, the newest one lowest
    bool is_slow_{false};
    uint32_t chosen_{0};
};

} // namespace odrc::mpi
