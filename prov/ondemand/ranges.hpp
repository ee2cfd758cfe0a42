// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace odrc::ondemand {

// Queue pair numbers in a row. A device gives them out in sequence, so that those of one process
// are a few such ranges if it makes them while no other does (Xu et al. 2024).
struct Range {
    uint32_t first;
    uint32_t count;

    uint32_t last() const noexcept { return first + count - 1; }
    bool operator==(const Range&) const = default;
};

// The fewest ranges that say all of these numbers, which are in order and different. Throws
// std::bad_alloc.
std::vector<Range> to_ranges(std::span<const uint32_t> numbers);

// The number at that place, counted over all ranges.
std::optional<uint32_t> number_at(std::span<const Range> ranges, uint32_t place) noexcept;
// And the place of a number.
std::optional<uint32_t> place_of(std::span<const Range> ranges, uint32_t number) noexcept;
// How many numbers they are.
uint64_t total(std::span<const Range> ranges) noexcept;

// Whether they are numbers of queue pairs, none twice, in order.
bool are_in_order(std::span<const Range> ranges) noexcept;

// A few ranges, in order: what an address has room for.
class ShortRanges {
public:
    static constexpr size_t kMost = 4;

    ShortRanges() = default;
    // The longest of these that are as many as most.
    ShortRanges(std::span<const Range> all, size_t most = kMost) noexcept;

    std::span<const Range> list() const noexcept { return std::span{ranges_}.first(count_); }
    bool empty() const noexcept { return count_ == 0; }
    uint32_t total() const noexcept { return static_cast<uint32_t>(ondemand::total(list())); }
    std::optional<uint32_t> at(uint32_t place) const noexcept { return number_at(list(), place); }

    // Whether they can be what somebody made: numbers of queue pairs, none twice, in order.
    bool valid() const noexcept { return are_in_order(list()); }
    bool operator==(const ShortRanges&) const = default;

private:
    std::array<Range, kMost> ranges_{};
    uint32_t count_{0};
};

} // namespace odrc::ondemand
