// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/ranges.hpp"

#include <algorithm>

namespace odrc::ondemand {
namespace {

constexpr uint32_t kNumbers = 1 << 24; // of queue pairs (IBTA 1.4, 9.2.4)

} // namespace

std::vector<Range> to_ranges(std::span<const uint32_t> numbers) {
    std::vector<Range> ranges;
    for (const uint32_t number : numbers) {
        if (!ranges.empty() && number == ranges.back().last() + 1)
            ++ranges.back().count;
        else
            ranges.push_back({number, 1});
    }
    return ranges;
}

uint64_t total(std::span<const Range> ranges) noexcept {
    uint64_t total = 0;
    for (const Range& range : ranges) total += range.count;
    return total;
}

std::optional<uint32_t> number_at(std::span<const Range> ranges, uint32_t place) noexcept {
    for (const Range& range : ranges) {
        if (place < range.count) return range.first + place;
        place -= range.count;
    }
    return std::nullopt;
}

std::optional<uint32_t> place_of(std::span<const Range> ranges, uint32_t number) noexcept {
    uint32_t before = 0;
    for (const Range& range : ranges) {
        if (number >= range.first && number <= range.last()) return before + number - range.first;
        before += range.count;
    }
    return std::nullopt;
}

bool are_in_order(std::span<const Range> ranges) noexcept {
    uint64_t next = 0;
    for (const Range& range : ranges) {
        if (range.count == 0 || range.first < next) return false;
        next = uint64_t{range.first} + range.count;
        if (next > kNumbers) return false;
    }
    return true;
}

// One by one, the shortest goes that need not stay.
ShortRanges::ShortRanges(std::span<const Range> all, size_t most) noexcept {
    most = std::min(most, kMost);
    const auto shorter = [](const Range& a, const Range& b) { return a.count < b.count; };
    for (const Range& range : all) {
        if (count_ == most) {
            const auto end = ranges_.begin() + count_;
            const auto shortest = std::min_element(ranges_.begin(), end, shorter);
            if (most == 0 || shortest->count >= range.count) continue;
            std::copy(shortest + 1, end, shortest);
            --count_;
        }
        ranges_[count_++] = range;
    }
}

} // namespace odrc::ondemand
