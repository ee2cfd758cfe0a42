// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace odrc::transfer {

// Along which tree a message goes to a group's members. Which is best depends on what counts: few
// children let packets follow each other soon, and a flat tree lets the last member have them soon.
enum class Tree : uint8_t {
    binary,   // two children each: half of the bandwidth, and log n steps
    binomial, // who has it tells one more in each step: the fewest steps
    knomial,  // likewise kRadix - 1 more in each step: fewer steps, of more sends
    chain,    // one child each: all of the bandwidth, and n - 1 steps
};
inline constexpr uint8_t kTrees = 4;
inline constexpr uint32_t kRadix = 4;

// A member's place in the tree that has that root.
struct Place {
    std::optional<uint32_t> parent; // none: it is the root
    std::vector<uint32_t> children; // the one with the most below it first
};

// Members are known by their rank. Throws std::bad_alloc.
Place place_in(Tree tree, uint32_t rank, uint32_t root, uint32_t size);

} // namespace odrc::transfer
