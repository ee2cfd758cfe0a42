// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "link_costs.hpp"
#include "tree.hpp"

namespace odrc::mpi {

// How a broadcast goes to all.
struct BroadcastWay {
    enum class Kind : uint8_t {
        tree,    // along it, in packets
        scatter, // a part to each, and then from each to all
        group,   // as the provider passes it on
    };
    static constexpr size_t kWhole = SIZE_MAX; // a message is one packet

    Kind kind;
    Tree tree{Tree::binomial};
    size_t packet{kWhole}; // bytes

    bool operator==(const BroadcastWay&) const noexcept = default;
};

// What ODRC_MPI_BCAST leaves to be chosen.
struct BroadcastWish {
    std::optional<BroadcastWay::Kind> kind{};
    std::optional<Tree> tree{};
    std::optional<size_t> packet{};

    bool admits(const BroadcastWay& way) const noexcept {
        return (!kind || way.kind == *kind) && (!tree || way.tree == *tree) &&
               (!packet || way.packet == *packet);
    }
};

// "group", "scatter", or a tree, with the bytes of a packet or not: "binary:16384", "binary:whole".
std::optional<BroadcastWish> broadcast_wish(std::string_view text) noexcept;
// That of the environment. What it cannot mean is told once.
const BroadcastWish& broadcast_wish_of_environment();

// How long some bytes take to the last of so many members; not for groups.
double expected_time(const BroadcastWay& way, size_t bytes, int members,
                     const LinkCosts& costs) noexcept;
// The quickest way that is as wished and does not need a group.
BroadcastWay quickest_way(size_t bytes, int members, const LinkCosts& costs,
                          const BroadcastWish& wish) noexcept;

} // namespace odrc::mpi
