// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who sends what to whom, for groups of any size n. Costs are per member, in messages one after
// the other and in bytes that it sends, for blocks of m bytes; log is that of n to the base 2,
// rounded up.

#include "transfer/collective_schedule.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace odrc::transfer {
namespace {

using Rounds = std::optional<Round>;

uint32_t ahead(const Collective& c, uint32_t distance) noexcept {
    return static_cast<uint32_t>((uint64_t{c.rank} + distance) % c.size);
}
uint32_t behind(const Collective& c, uint32_t distance) noexcept {
    return ahead(c, c.size - distance);
}

std::byte* block_of(const Collective& c, std::byte* blocks, uint32_t rank) noexcept {
    return c.block > 0 ? blocks + rank * c.block : blocks;
}

Exchange nothing(uint32_t rank) noexcept { return {.rank = rank, .pieces = {}}; }

Exchange block(const Collective& c, uint32_t rank, std::byte* at) noexcept {
    return {.rank = rank, .pieces = {iovec{at, c.block}, iovec{}}};
}

// Blocks of so many members, from the first on; behind the last member comes the first.
Exchange blocks(const Collective& c, uint32_t rank, std::byte* at, uint32_t first,
                uint32_t count) noexcept {
    const uint32_t straight = std::min(count, c.size - first);
    return {.rank = rank,
            .pieces = {iovec{block_of(c, at, first), straight * c.block},
                       iovec{at, (count - straight) * c.block}}};
}

// The distance of that round, which doubles; none where it is the group's size or more.
std::optional<uint32_t> doubled(const Collective& c, uint32_t number) noexcept {
    if (number >= 32 || uint64_t{1} << number >= c.size) return std::nullopt;
    return uint32_t{1} << number;
}

// Dissemination: after the round of distance d, a member knows of 2d others that they have come.
// log messages.
Rounds barrier(const Collective& c, uint32_t number) noexcept {
    const auto d = doubled(c, number);
    if (!d) return std::nullopt;
    return Round{.send = nothing(ahead(c, *d)), .receive = nothing(behind(c, *d))};
}

// ---- binomial trees
// -------------------------------------------------------------------------------

// A member's place in the tree below the root. Place v's parent is v without its lowest bit; its
// children are v plus every power of two below that bit.
struct Place {
    explicit Place(const Collective& c) noexcept
        : group{c}
        , v{ahead(c, c.size - c.root)}
        , lowest{v ? v & (~v + 1) : std::bit_ceil(c.size)} {}

    uint32_t children() const noexcept {
        uint32_t count = 0;
        while (has_child(count)) ++count;
        return count;
    }
    bool has_child(uint32_t i) const noexcept {
        const uint64_t bit = uint64_t{1} << i;
        return bit < lowest && v + bit < group.size;
    }
    uint32_t child(uint32_t i) const noexcept { return rank(v + (uint32_t{1} << i)); }
    uint32_t parent() const noexcept { return rank(v - lowest); }
    uint32_t rank(uint32_t place) const noexcept {
        return static_cast<uint32_t>((uint64_t{place} + group.root) % group.size);
    }

    const Collective& group;
    const uint32_t v;
    const uint32_t lowest;
};

// The largest subtree first. log messages of m bytes at the root, fewer below.
Rounds broadcast(const Collective& c, uint32_t number) noexcept {
    const Place place{c};
    if (!c.is_root()) {
        if (number == 0) return Round{.receive = block(c, place.parent(), c.data)};
        --number;
    }
    const uint32_t children = place.children();
    if (number >= children) return std::nullopt;
    return Round{.send = block(c, place.child(children - 1 - number), c.data)};
}

// The same tree, upwards and the smallest subtree first. One message of m bytes; log of them are
// received one after the other at the root.
Rounds reduce(const Collective& c, uint32_t number) noexcept {
    const Place place{c};
    const uint32_t children = place.children();
    if (number < children)
        return Round{.receive = block(c, place.child(number), c.incoming), .combine = true};
    if (number > children || c.is_root()) return std::nullopt;
    return Round{.send = block(c, place.parent(), c.sum)};
}

// ---- exchanges
// ------------------------------------------------------------------------------------

// Recursive doubling among the largest power of two of members; each of the others lets one of
// those stand for it, and is told the result. log + 1 messages of m bytes. All members combine
// along the same tree, so floating-point results do not differ among them.
Rounds allreduce(const Collective& c, uint32_t number) noexcept {
    const uint32_t power = std::bit_floor(c.size);
    const uint32_t others = c.size - power;
    if (c.rank >= power) {
        const uint32_t deputy = c.rank - power;
        if (number == 0) return Round{.send = block(c, deputy, c.sum)};
        if (number == 1) return Round{.receive = block(c, deputy, c.sum)};
        return std::nullopt;
    }
    const bool stands_for_other = c.rank < others;
    if (stands_for_other) {
        if (number == 0)
            return Round{.receive = block(c, c.rank + power, c.incoming), .combine = true};
        --number;
    }
    const auto doublings = static_cast<uint32_t>(std::countr_zero(power));
    if (number < doublings) {
        const uint32_t partner = c.rank ^ (uint32_t{1} << number);
        return Round{.send = block(c, partner, c.sum),
                     .receive = block(c, partner, c.incoming),
                     .combine = true};
    }
    if (number > doublings || !stands_for_other) return std::nullopt;
    return Round{.send = block(c, c.rank + power, c.sum)};
}

// Bruck's: before the round of distance d, a member has the blocks of d members from its own on,
// and gets those of as many more. log messages, n - 1 blocks.
Rounds allgather(const Collective& c, uint32_t number) noexcept {
    const auto d = doubled(c, number);
    const auto doublings = static_cast<uint32_t>(std::bit_width(c.size - 1));
    if (!d) return c.agreed ? barrier(c, number - doublings) : std::nullopt;
    const uint32_t count = std::min(*d, c.size - *d);
    const uint32_t from = ahead(c, *d);
    return Round{.send = blocks(c, behind(c, *d), c.result, c.rank, count),
                 .receive = blocks(c, from, c.result, from, count)};
}

// Pairwise: each member with the ones at distance 1, 2 and so on. n - 1 messages of one block.
Rounds alltoall(const Collective& c, uint32_t number) noexcept {
    const uint32_t d = number + 1;
    if (d >= c.size) return std::nullopt;
    const uint32_t to = ahead(c, d), from = behind(c, d);
    return Round{.send = block(c, to, block_of(c, c.data, to)),
                 .receive = block(c, from, block_of(c, c.result, from))};
}

// Likewise, and what comes in is combined. n - 1 messages of one block.
Rounds reduce_scatter(const Collective& c, uint32_t number) noexcept {
    const uint32_t d = number + 1;
    if (d >= c.size) return std::nullopt;
    const uint32_t to = ahead(c, d);
    return Round{.send = block(c, to, block_of(c, c.data, to)),
                 .receive = block(c, behind(c, d), c.incoming),
                 .combine = true};
}

// ---- one with all
// ---------------------------------------------------------------------------------

// n - 1 messages of one block at the root.
Rounds scatter(const Collective& c, uint32_t number) noexcept {
    const uint32_t other = ahead(c, number + 1);
    if (c.is_root()) {
        if (number + 1 >= c.size) return std::nullopt;
        return Round{.send = block(c, other, block_of(c, c.data, other))};
    }
    if (number > 0) return std::nullopt;
    return Round{.receive = block(c, c.root, c.result)};
}

// n - 1 messages of one block at the root.
Rounds gather(const Collective& c, uint32_t number) noexcept {
    const uint32_t other = ahead(c, number + 1);
    if (c.is_root()) {
        if (number + 1 >= c.size) return std::nullopt;
        return Round{.receive = block(c, other, block_of(c, c.result, other))};
    }
    if (number > 0) return std::nullopt;
    return Round{.send = block(c, c.root, c.data)};
}

// The program may have given the same memory twice.
void copy(const Collective& c, std::byte* to, const std::byte* from) noexcept {
    if (c.block > 0 && to != from) std::memmove(to, from, c.block);
}

} // namespace

Rounds round_of(const Collective& c, uint32_t number) noexcept {
    switch (c.kind) {
    case FI_BARRIER:
        return barrier(c, number);
    case FI_BROADCAST:
        return broadcast(c, number);
    case FI_ALLTOALL:
        return alltoall(c, number);
    case FI_ALLREDUCE:
        return allreduce(c, number);
    case FI_ALLGATHER:
        return allgather(c, number);
    case FI_REDUCE_SCATTER:
        return reduce_scatter(c, number);
    case FI_REDUCE:
        return reduce(c, number);
    case FI_SCATTER:
        return scatter(c, number);
    case FI_GATHER:
        return gather(c, number);
    }
    return std::nullopt;
}

// A member's own contribution goes where those of the others will.
void contribute(const Collective& c) noexcept {
    switch (c.kind) {
    case FI_ALLREDUCE:
    case FI_REDUCE:
        return copy(c, c.sum, c.data);
    case FI_REDUCE_SCATTER:
        return copy(c, c.sum, block_of(c, c.data, c.rank));
    case FI_ALLGATHER:
        return copy(c, block_of(c, c.result, c.rank), c.data);
    case FI_ALLTOALL:
        return copy(c, block_of(c, c.result, c.rank), block_of(c, c.data, c.rank));
    case FI_SCATTER:
        if (c.is_root()) copy(c, c.result, block_of(c, c.data, c.rank));
        return;
    case FI_GATHER:
        if (c.is_root()) copy(c, block_of(c, c.result, c.rank), c.data);
        return;
    default:
        return;
    }
}

void combine(const Collective& c) noexcept {
    c.operation->apply({.target = c.sum,
                        .operands = c.incoming,
                        .compares = nullptr,
                        .results = nullptr,
                        .count = c.elements});
}

void conclude(const Collective& c) noexcept {
    if (c.combines() && (c.kind != FI_REDUCE || c.is_root())) copy(c, c.result, c.sum);
}

} // namespace odrc::transfer
