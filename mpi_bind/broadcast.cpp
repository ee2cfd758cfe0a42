// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI_Bcast: along a tree, in packets, each of which is passed on as soon as it is there.

#include "collectives.hpp"
#include "tree.hpp"

#include <cstdio>
#include <cstdlib>

namespace odrc::mpi {
namespace {

// What is short is one packet, along the tree with the fewest steps; what is long takes as long as
// its busiest member needs for all packets, which has few children.
constexpr size_t kShort = 32 << 10;
constexpr size_t kPacket = 16 << 10;
constexpr size_t kAhead = 4; // packets that a member waits for at a time

Tree tree_for(size_t bytes) {
    static const std::optional<Tree> forced = [] {
        const char* name = std::getenv("ODRC_MPI_BCAST");
        const auto tree = name ? tree_named(name) : std::nullopt;
        if (name && *name && !tree)
            std::fprintf(stderr,
                         "odrc-mpi: ODRC_MPI_BCAST=%s: not binomial, knomial, binary or "
                         "chain\n",
                         name);
        return tree;
    }();
    return forced.value_or(bytes <= kShort ? Tree::binomial : Tree::binary);
}

} // namespace

int broadcast(const Data& data, int root, Communicator& c) {
    if (c.size() == 1) return MPI_SUCCESS;
    const size_t bytes = data.bytes();
    const Place place = place_in(tree_for(bytes), c.rank(), root, c.size());
    std::unique_ptr<std::byte[]> packed;
    std::byte* memory = data.address + data.type->layout()->begin();
    if (!data.is_contiguous()) {
        packed.reset(new std::byte[std::max<size_t>(bytes, 1)]);
        memory = packed.get();
        if (!place.parent) data.pack(0, {memory, bytes});
    }
    const size_t packet = bytes <= kShort ? std::max<size_t>(bytes, 1) : kPacket;
    const size_t packets = std::max<size_t>((bytes + packet - 1) / packet, 1);
    const auto part = [&](size_t i) {
        return Data{memory + i * packet, std::min(packet, bytes - i * packet),
                    *Datatype::of(MPI_BYTE)};
    };
    Exchange passing_on{c};
    std::vector<Request*> coming;
    const auto expect = [&](size_t i) {
        if (place.parent && i < packets)
            coming.push_back(&begin_receive(part(i), passing_on.with(*place.parent)));
    };
    for (size_t i = 0; i < kAhead; ++i) expect(i);
    int error = MPI_SUCCESS;
    for (size_t i = 0; i < packets; ++i) {
        if (place.parent)
            if (const int failed = wait(*coming[i]); failed && !error) error = failed;
        expect(i + kAhead);
        for (const int child : place.children) passing_on.send(part(i), child);
    }
    const int others = passing_on.finish();
    if (packed && place.parent && !error) data.unpack(0, {packed.get(), bytes});
    return error ? error : others;
}

} // namespace odrc::mpi
