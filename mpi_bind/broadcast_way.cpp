// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "broadcast_way.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace odrc::mpi {
namespace {

using Kind = BroadcastWay::Kind;

constexpr Tree kTrees[] = {Tree::binomial, Tree::knomial, Tree::binary, Tree::chain};
constexpr size_t kPackets[] = {128 << 10, 32 << 10, 8 << 10};

// Digits of the numbers below it, in a system of 2^bits.
int digits(int members, int bits) noexcept {
    return (std::bit_width(static_cast<unsigned>(members - 1)) + bits - 1) / bits;
}

// The way to the last member, and what the busiest one sends for each packet.
struct Shape {
    int hops;  // one behind the other
    int waits; // sends to others that come before one's own, on that way
    int fan_out;
};

Shape shape_of(Tree tree, int members) noexcept {
    switch (tree) {
    case Tree::binomial: {
        const int steps = digits(members, 1);
        const int hops = std::bit_width(static_cast<unsigned>(members)) - 1;
        return {.hops = hops, .waits = steps - hops, .fan_out = steps};
    }
    case Tree::knomial: {
        const int depth = digits(members, 2);
        const int first = (members - 1) >> 2 * (depth - 1); // children with most below them
        return {.hops = depth,
                .waits = 2 * (depth - 1) + first - 1,
                .fan_out = 3 * (depth - 1) + first};
    }
    case Tree::binary: {
        const int depth = std::bit_width(static_cast<unsigned>(members)) - 1;
        const int full = std::bit_width(static_cast<unsigned>(members + 1)) - 1; // levels
        return {.hops = depth, .waits = full - 1, .fan_out = std::min(2, members - 1)};
    }
    case Tree::chain:
        break;
    }
    return {.hops = members - 1, .waits = 0, .fan_out = 1};
}

// What all messages take of all processors, where processes are more than these: whoever sends has
// one, and whoever receives.
double work(double messages, size_t bytes, int members, const LinkCosts& costs) noexcept {
    return 2 * messages * costs.send(bytes) * costs.crowding / members;
}

double time_along_tree(Tree tree, size_t packet, size_t bytes, int members,
                       const LinkCosts& costs) noexcept {
    const Shape shape = shape_of(tree, members);
    packet = std::min(packet, bytes);
    const auto packets = static_cast<double>((bytes + packet - 1) / packet);
    const double time = shape.hops * costs.hop(packet) + shape.waits * costs.send(packet) +
                        (packets - 1) * shape.fan_out * costs.send(packet);
    return std::max(time, work((members - 1) * packets, packet, members, costs));
}

// The root gives each its part, and these go round.
double time_of_scatter(size_t bytes, int members, const LinkCosts& costs) noexcept {
    const size_t part = bytes / static_cast<size_t>(members);
    const double time = (members - 1) * (costs.send(part) + costs.hop(part));
    return std::max(time, work((members - 1.0) * (members + 1), part, members, costs));
}

std::optional<size_t> packet_named(std::string_view text) noexcept {
    if (text == "whole") return BroadcastWay::kWhole;
    size_t packet = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, packet);
    if (error != std::errc{} || rest != end || packet == 0) return std::nullopt;
    return packet;
}

} // namespace

std::optional<BroadcastWish> broadcast_wish(std::string_view text) noexcept {
    if (text.empty()) return BroadcastWish{};
    if (text == "group") return BroadcastWish{.kind = Kind::group};
    if (text == "scatter") return BroadcastWish{.kind = Kind::scatter};
    const size_t colon = text.find(':');
    const auto tree = tree_named(text.substr(0, colon));
    if (!tree) return std::nullopt;
    BroadcastWish wish{.kind = Kind::tree, .tree = tree};
    if (colon == text.npos) return wish;
    wish.packet = packet_named(text.substr(colon + 1));
    if (!wish.packet) return std::nullopt;
    return wish;
}

const BroadcastWish& broadcast_wish_of_environment() {
    static const BroadcastWish wish = [] {
        const char* text = std::getenv("ODRC_MPI_BCAST");
        const auto read = broadcast_wish(text ? text : "");
        if (!read)
            std::fprintf(stderr,
                         "odrc-mpi: ODRC_MPI_BCAST=%s: not group, scatter, or binomial, knomial, "
                         "binary or chain, with or without the bytes of a packet\n",
                         text);
        return read.value_or(BroadcastWish{});
    }();
    return wish;
}

double expected_time(const BroadcastWay& way, size_t bytes, int members,
                     const LinkCosts& costs) noexcept {
    return way.kind == Kind::tree ? time_along_tree(way.tree, way.packet, bytes, members, costs)
                                  : time_of_scatter(bytes, members, costs);
}

BroadcastWay quickest_way(size_t bytes, int members, const LinkCosts& costs,
                          const BroadcastWish& wish) noexcept {
    BroadcastWay best{.kind = Kind::tree};
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](const BroadcastWay& way) {
        if (!wish.admits(way)) return;
        const double time = expected_time(way, bytes, members, costs);
        if (time >= least) return;
        least = time;
        best = way;
    };
    for (const Tree tree : kTrees) {
        consider({.kind = Kind::tree, .tree = tree});
        for (const size_t packet : kPackets)
            if (packet < bytes) consider({.kind = Kind::tree, .tree = tree, .packet = packet});
        if (wish.packet) consider({.kind = Kind::tree, .tree = tree, .packet = *wish.packet});
    }
    consider({.kind = Kind::scatter});
    return best;
}

} // namespace odrc::mpi
