// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI_Bcast, each way that there is.

#include "broadcast.hpp"

#include "collectives.hpp"
#include "fabric_group.hpp"
#include "packed.hpp"
#include "process.hpp"

namespace odrc::mpi {
namespace {

constexpr size_t kAhead = 4; // packets that a member waits for at a time

Data bytes_of(std::byte* memory, size_t bytes) noexcept {
    return {memory, bytes, *Datatype::of(MPI_BYTE)};
}

int broadcast_to_group(FabricGroup& group, const Data& data, int root, const Communicator& c) {
    struct Passing : Operation {
        Passing()
            : Operation{[](Operation& op, const Outcome& outcome) noexcept {
                auto& self = static_cast<Passing&>(op);
                self.error = outcome.error;
                self.over = true;
            }} {}
        int error{0};
        bool over{false};
    } passing;
    Process& process = Process::get();
    process.fabric().broadcast(group, process.address_of(c.group().world_rank(root)), data.address,
                               data.bytes(), passing);
    process.advance_until([&] { return passing.over; });
    return passing.error ? MPI_ERR_OTHER : MPI_SUCCESS;
}

} // namespace

// Each packet is passed on as soon as it is there.
int broadcast_along(Tree tree, size_t packet, const Data& data, int root, Communicator& c) {
    const Place place = place_in(tree, c.rank(), root, c.size());
    const size_t bytes = data.bytes();
    packet = std::min(packet, bytes);
    const size_t packets = (bytes + packet - 1) / packet;
    const auto part = [&](size_t i) {
        return bytes_of(data.address + i * packet, std::min(packet, bytes - i * packet));
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
    return error ? error : others;
}

// A part to each member, and then of each to all; what is left over is short.
int broadcast_by_parts(const Data& data, int root, Communicator& c) {
    const auto members = static_cast<size_t>(c.size());
    const size_t part = data.bytes() / members, rest = data.bytes() % members;
    const Slots parts{data.address, part, *Datatype::of(MPI_BYTE)};
    const Data mine = parts[c.rank()];
    int error = scatter(&parts, c.rank() == root ? nullptr : &mine, root, c);
    if (const int failed = allgather(nullptr, parts, c); !error) error = failed;
    if (rest == 0) return error;
    const Data left_over = bytes_of(data.address + members * part, rest);
    const int failed = broadcast_along(Tree::binomial, rest, left_over, root, c);
    return error ? error : failed;
}

int broadcast(const Data& data, int root, Communicator& c) {
    const size_t bytes = data.bytes();
    if (c.size() == 1 || bytes == 0) return MPI_SUCCESS;
    if (!c.broadcasts) c.broadcasts = std::make_unique<BroadcastPlan>(c);
    Packed packed;
    Data piece = bytes_of(data.begin(), bytes);
    if (!data.is_contiguous()) {
        piece.address = packed.make(bytes);
        if (c.rank() == root) data.pack(0, {piece.address, bytes});
    }
    const BroadcastWay& way = c.broadcasts->way_for(bytes);
    int error = MPI_SUCCESS;
    switch (way.kind) {
    case BroadcastWay::Kind::tree:
        error = broadcast_along(way.tree, way.packet, piece, root, c);
        break;
    case BroadcastWay::Kind::scatter:
        error = broadcast_by_parts(piece, root, c);
        break;
    case BroadcastWay::Kind::group:
        error = broadcast_to_group(*c.broadcasts->group(), piece, root, c);
    }
    if (packed && c.rank() != root && !error) data.unpack(0, {packed.get(), bytes});
    return error;
}

} // namespace odrc::mpi
