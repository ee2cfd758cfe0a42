// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/native_address.hpp"

#include <vector>

namespace odrc::ondemand {

// All the queue pairs that wait for the processes of a job, however many ranges their numbers are:
// those of which the address has room first, then the others, each part in order. The program
// publishes it as it likes, and gives it to the peers. Little-endian:
//   0xe0 | version 1 | endpoint of the process 1 | rank 2 | size 2 | job 2 | endpoint's id 8 |
//   ranges: first 3, count 2 each
struct RangeList {
    PlaceInJob place{};
    uint64_t endpoint{0};
    std::vector<Range> ranges; // place i: the queue pair for rank i

    // Throw std::bad_alloc.
    std::vector<std::byte> encode() const;
    // None unless it is whole, of our version, and every field is in its range.
    static std::optional<RangeList> decode(std::span<const std::byte> bytes);

    // Whether that address begins what is told here.
    bool goes_on(const NativeAddress& address) const noexcept;
};

} // namespace odrc::ondemand
