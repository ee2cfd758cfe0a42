// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/place_in_job.hpp"
#include "ondemand/range_list.hpp"
#include "ondemand/seal.hpp"

#include <vector>

namespace odrc::ondemand {

// Queue pairs that were made beforehand, one for each process of a job: the one for a rank has the
// number at that place of our ranges. It waits in INIT until its peer is named.
class QueuesInWait {
public:
    // Takes them over, whatever their order, and keeps those that an address has room to name or,
    // where the peers get lists, all. How many those are. Throws std::bad_alloc.
    size_t keep(std::vector<verbs::QueuePair>&& made, const PlaceInJob& place, NativeAddress own,
                bool lists);

    const PlaceInJob& place() const noexcept { return place_; }
    const ShortRanges& ranges() const noexcept { return ranges_; }    // of the address
    const std::vector<Range>& list() const noexcept { return list_; } // all, these first
    size_t count() const noexcept { return waiting_; }

    // The number of the peer's queue pair for us, if each side has one for the other, by our
    // address and by the peer's, or by the lists, where we have the peer's and it has ours: both
    // sides come to the same answer.
    std::optional<uint32_t> meeting(const NativeAddress& peer,
                                    const RangeList* list) const noexcept;

    bool has(uint32_t rank) const noexcept { return rank < slots_.size() && slots_[rank]; }
    verbs::QueuePair take(uint32_t rank) noexcept;
    // Ends the last one that waits. False when there is none.
    bool drop_one() noexcept;

private:
    PlaceInJob place_{};
    ShortRanges ranges_;
    std::vector<Range> list_;
    std::vector<std::optional<verbs::QueuePair>> slots_; // by rank
    size_t waiting_{0};
};

// The packet sequence number with which one queue pair begins towards another. It is what binds
// the key: who has another one expects other numbers, takes nothing in, and is not answered.
struct QueueName {
    uint64_t endpoint;
    uint32_t number;
};
uint32_t first_psn(const Seal& seal, const QueueName& from, const QueueName& to) noexcept;

} // namespace odrc::ondemand
