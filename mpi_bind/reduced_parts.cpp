// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Reductions in which each member makes a part of the result: what is long goes over each link
// once, and all members add up at the same time.

#include "collectives.hpp"

#include <numeric>

namespace odrc::mpi {
namespace {

// So many elements in as many parts as there are members: how many each has, and where.
struct Parts {
    Parts(size_t count, const Communicator& c)
        : counts(static_cast<size_t>(c.size()))
        , places(counts.size()) {
        const size_t members = counts.size();
        for (size_t i = 0; i < members; ++i)
            counts[i] = static_cast<int>(count * (i + 1) / members - count * i / members);
        std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    }
    Slots in(const void* base, const Datatype& type) const noexcept {
        return {base, counts.data(), places.data(), type};
    }

    std::vector<int> counts, places;
};

} // namespace

// Everybody's parts for this member, one behind the other, are added up in the order of the ranks.
int reduce_parts(const Slots& out, const Data& mine, const Op& op, Communicator& c) {
    const auto members = static_cast<size_t>(c.size());
    auto& type = const_cast<Datatype&>(*mine.type);
    Scratch scratch{members * mine.count, type};
    const Slots all{scratch.address(), mine.count, type};
    if (const int error = alltoall(&out, all, c)) return error;
    for (int rank = 1; rank < c.size() && mine.count > 0; ++rank)
        op.apply(all[rank - 1].address, all[rank].address, mine.count, type);
    return copy(all[c.size() - 1], mine);
}

int allreduce_by_parts(const void* in, const Data& result, const Op& op, Communicator& c) {
    const Parts parts{result.count, c};
    const Slots all = parts.in(result.address, *result.type);
    const Slots out = parts.in(in == MPI_IN_PLACE ? result.address : in, *result.type);
    if (const int error = reduce_parts(out, all[c.rank()], op, c)) return error;
    return allgather(nullptr, all, c);
}

int reduce_by_parts(const void* in, const Data& result, const Op& op, int root, Communicator& c) {
    const Parts parts{result.count, c};
    const Slots out = parts.in(in == MPI_IN_PLACE ? result.address : in, *result.type);
    const auto count = static_cast<size_t>(parts.counts[static_cast<size_t>(c.rank())]);
    Scratch scratch{count, *result.type};
    const Data mine{scratch.address(), count, *result.type};
    if (const int error = reduce_parts(out, mine, op, c)) return error;
    const Slots all = parts.in(result.address, *result.type);
    return gather(&mine, &all, root, c);
}

} // namespace odrc::mpi
