// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What a program may give an endpoint for the list of a peer's queue pairs.

#include "ondemand/range_list.hpp"

#include <algorithm>
#include <stdexcept>

namespace fuzz {

// False if it is refused.
inline bool read_list(std::span<const std::byte> bytes) {
    using namespace odrc::ondemand;
    const auto list = RangeList::decode(bytes);
    if (!list) return false;
    const auto must = [](bool condition, const char* what) {
        if (!condition) throw std::logic_error{what};
    };
    must(std::ranges::equal(list->encode(), bytes), "what is read is not what came");
    must(total(list->ranges) <= list->place.size, "there are more queue pairs than processes");
    for (uint32_t place = 0; place < total(list->ranges); place += 1 + place / 4)
        must(place_of(list->ranges, number_at(list->ranges, place).value()) == place,
             "two have one number");
    return true;
}

} // namespace fuzz
