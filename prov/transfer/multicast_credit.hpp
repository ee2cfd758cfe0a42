// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// How much the root of a tree may send: from end to end, so that no member ever has to refuse what
// comes along the tree, or to hold it back from those below.
//
// Each member lets each root send so much that it has not taken in yet: it has room for all of
// that, whoever sends and whether its program asks for it or not. What comes is therefore always
// taken from the receive queue, passed on and kept. Nobody waits for a place at a member in order
// to give one free, and so there is no circle of members that wait for each other, whatever trees
// there are at once and however they cross: a store-and-forward deadlock takes one.
//
// A member tells its parent the least of what it allows itself and of what its children do. Limits
// are whole quanta, so that what is held back at each step, because it is not worth a word, does
// not add up along the tree: all in all it is less than one quantum.

#include "transfer/limits.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace odrc::transfer {

// What a packet costs, in units of 2 KiB: the memory that a member may have to keep it in.
inline constexpr uint64_t kCreditUnit = 2048;
inline constexpr uint64_t kShortCost = 1; // it is copied into a small buffer
inline constexpr uint64_t kLongCost = 5;  // it takes a buffer for any frame
constexpr uint64_t cost_of(size_t payload) noexcept {
    return payload <= kInjectSize ? kShortCost : kLongCost;
}
static_assert(kInjectSize + wire::kMaxHeader <= kShortCost * kCreditUnit);
static_assert(wire::kFrameBytes <= kLongCost * kCreditUnit);

// The longest message for which nobody has given memory. It is kept whole, until it is released.
inline constexpr size_t kMaxMulticast = 4 * wire::kEagerLimit;
inline constexpr uint64_t kCreditQuantum = 4 * kLongCost;
// What every root may send before it has heard anything, and a member has to allow at the least:
// when all is taken in that has come, what it allows is enough for the longest message.
inline constexpr uint64_t kLeastCredit = 2 * kCreditQuantum;
inline constexpr uint64_t kMostCredit = 32 * kCreditQuantum;
static_assert(kLeastCredit - kCreditQuantum >= kMaxMulticast / wire::kEagerLimit * kLongCost);

// What a member allows each root of a group of that size, of so much memory.
constexpr uint64_t credit_for(size_t bytes, uint32_t members) noexcept {
    const uint64_t share = bytes / kCreditUnit / std::max(members, 1u);
    return std::clamp(share / kCreditQuantum * kCreditQuantum, kLeastCredit, kMostCredit);
}

// A member's, for one tree.
class Credit {
public:
    // Throws std::bad_alloc.
    Credit(size_t children, uint64_t allowed)
        : allowed_{allowed}
        , children_(children, kLeastCredit) {}

    // Of what has come, so much has been taken in.
    void took_in(uint64_t cost) noexcept { taken_in_ += cost; }
    void child_allows(size_t child, uint64_t limit) noexcept {
        children_[child] = std::max(children_[child], limit);
    }

    // Up to where the root may send, as far as this member and those below it are concerned.
    uint64_t limit() const noexcept {
        uint64_t least = own();
        for (const uint64_t child : children_) least = std::min(least, child);
        return least;
    }
    // The same, of which the parent has not been told.
    std::optional<uint64_t> news() noexcept {
        const uint64_t now = limit();
        if (now <= told_) return std::nullopt;
        told_ = now;
        return now;
    }
    // Where this member's own limit is, or has been: what goes beyond nobody was let send.
    uint64_t most() const noexcept { return std::max(own(), kLeastCredit); }
    // What came up to there may be all that the child allows.
    bool is_short(size_t child, uint64_t sent) const noexcept {
        return sent + kLongCost > children_[child];
    }

private:
    uint64_t own() const noexcept {
        return (taken_in_ + allowed_) / kCreditQuantum * kCreditQuantum;
    }

    const uint64_t allowed_;
    uint64_t taken_in_{0};
    uint64_t told_{kLeastCredit};
    std::vector<uint64_t> children_;
};

} // namespace odrc::transfer
