// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace odrc::mpi {

// Ways for a message from one to all.
enum class Tree : uint8_t { binomial, binary, chain, knomial };

std::optional<Tree> tree_named(std::string_view name) noexcept;

struct Place {
    std::optional<int> parent; // none: at the root
    std::vector<int> children; // in the order in which they are sent to
};

Place place_in(Tree tree, int rank, int root, int size);

} // namespace odrc::mpi
