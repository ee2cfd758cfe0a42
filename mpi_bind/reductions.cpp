// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Collectives that make one value of many (MPI 5.9 to 5.11). Whatever the operation, what is of
// lower ranks stands on its left.

#include "collectives.hpp"

#include <bit>

namespace odrc::mpi {
namespace {

Datatype& type_of(const Data& data) noexcept { return const_cast<Datatype&>(*data.type); }

// One's elements, and the place for those of another: after combining, the result is in mine.
class Accumulator {
public:
    Accumulator(const void* in, const Data& result)
        : first_{result.count, *result.type}
        , second_{result.count, *result.type}
        , mine_{first_.address(), result.count, *result.type}
        , theirs_{second_.address(), result.count, *result.type} {
        copy({in == MPI_IN_PLACE ? result.address : in, result.count, *result.type}, mine_);
    }
    const Data& mine() const noexcept { return mine_; }
    const Data& theirs() const noexcept { return theirs_; }
    void combine(const Op& op, bool mine_is_left) {
        if (mine_is_left) {
            op.apply(mine_.address, theirs_.address, mine_.count, type_of(mine_));
            std::swap(mine_.address, theirs_.address);
        } else {
            op.apply(theirs_.address, mine_.address, mine_.count, type_of(mine_));
        }
    }

private:
    Scratch first_;
    Scratch second_;
    Data mine_;
    Data theirs_;
};

// A binomial tree, in which each has the ranks that follow its own. Only the root's is the result.
int reduce_along_tree(Accumulator& all, const Op& op, int root, int tag, Communicator& c) {
    const int size = c.size(), relative = (c.rank() - root + size) % size;
    for (int bit = 1; bit < size; bit *= 2) {
        if (relative & bit)
            return send(all.mine(), {&c, (relative - bit + root) % size, tag, true});
        if (relative + bit >= size) continue;
        if (const int error =
                receive(all.theirs(), {&c, (relative + bit + root) % size, tag, true}))
            return error;
        all.combine(op, true);
    }
    return MPI_SUCCESS;
}

// Each with the one whose rank differs in one bit: then all have all.
int exchange_by_bits(Accumulator& all, const Op& op, int tag, Communicator& c) {
    for (int bit = 1; bit < c.size(); bit *= 2) {
        const int peer = c.rank() ^ bit;
        const Address with{&c, peer, tag, true};
        if (const int error = exchange(all.mine(), with, all.theirs(), with)) return error;
        all.combine(op, c.rank() < peer);
    }
    return MPI_SUCCESS;
}

// What goes whole along a tree takes as many times as long as that has steps.
bool goes_by_parts(const Data& data, const Communicator& c) noexcept {
    constexpr size_t kLong = 32 << 10;
    return data.bytes() > kLong && data.count >= static_cast<size_t>(c.size());
}

} // namespace

// Where the order counts, ranks must not begin in the middle.
int reduce(const void* in, const Data& result, const Op& op, int root, Communicator& c) {
    if (goes_by_parts(result, c)) return reduce_by_parts(in, result, op, root, c);
    const int tag = c.next_collective();
    const int top = op.commutes() ? root : 0;
    Accumulator all{in, result};
    if (const int error = reduce_along_tree(all, op, top, tag, c)) return error;
    if (top != root && c.rank() == top) return send(all.mine(), {&c, root, tag, true});
    if (c.rank() != root) return MPI_SUCCESS;
    return top == root ? copy(all.mine(), result) : receive(result, {&c, top, tag, true});
}

int allreduce(const void* in, const Data& result, const Op& op, Communicator& c) {
    if (goes_by_parts(result, c)) return allreduce_by_parts(in, result, op, c);
    if (!std::has_single_bit(static_cast<unsigned>(c.size()))) {
        const int error = reduce(in, result, op, 0, c);
        const int other = broadcast(result, 0, c);
        return error ? error : other;
    }
    Accumulator all{in, result};
    if (const int error = exchange_by_bits(all, op, c.next_collective(), c)) return error;
    return copy(all.mine(), result);
}

// Along the ranks, each with what all before it have.
int scan(const void* in, const Data& result, const Op& op, Communicator& c) {
    const int rank = c.rank(), tag = c.next_collective();
    Accumulator all{in, result};
    if (rank > 0) {
        if (const int error = receive(all.theirs(), {&c, rank - 1, tag, true})) return error;
        all.combine(op, false);
    }
    if (rank + 1 < c.size())
        if (const int error = send(all.mine(), {&c, rank + 1, tag, true})) return error;
    return copy(all.mine(), result);
}

int exclusive_scan(const void* in, const Data& result, const Op& op, Communicator& c) {
    const int rank = c.rank(), tag = c.next_collective();
    Accumulator all{in, result};
    if (rank > 0) {
        if (const int error = receive(all.theirs(), {&c, rank - 1, tag, true})) return error;
        if (const int error = copy(all.theirs(), result)) return error;
        all.combine(op, false);
    }
    return rank + 1 < c.size() ? send(all.mine(), {&c, rank + 1, tag, true}) : MPI_SUCCESS;
}

} // namespace odrc::mpi
