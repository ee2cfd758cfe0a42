// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Collectives that move data as it is (MPI 5.5 to 5.8), and what all have in common.

#include "collectives.hpp"

namespace odrc::mpi {

Scratch::Scratch(size_t count, const Datatype& type)
    : begin_{type.layout()->begin() +
             std::min<ptrdiff_t>(0, static_cast<ptrdiff_t>(count) * type.extent())} {
    const ptrdiff_t all = static_cast<ptrdiff_t>(count) * std::abs(type.extent());
    const auto bytes = static_cast<size_t>(all + type.layout()->end() - type.layout()->begin());
    bytes_.reset(new std::byte[std::max<size_t>(bytes, 1)]);
}

int copy(const Data& from, const Data& to) {
    const size_t bytes = std::min(from.bytes(), to.bytes());
    if (from.is_contiguous()) {
        to.unpack(0, {from.address + from.type->layout()->begin(), bytes});
    } else if (to.is_contiguous()) {
        from.pack(0, {to.address + to.type->layout()->begin(), bytes});
    } else {
        const std::unique_ptr<std::byte[]> packed{new std::byte[std::max<size_t>(bytes, 1)]};
        from.pack(0, {packed.get(), bytes});
        to.unpack(0, {packed.get(), bytes});
    }
    return from.bytes() > to.bytes() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

// Dissemination: after round k a process knows of the 2^k before it.
int barrier(Communicator& c) {
    const Data nothing{nullptr, 0, *Datatype::of(MPI_BYTE)};
    const int size = c.size(), rank = c.rank(), tag = c.next_collective();
    for (int distance = 1; distance < size; distance *= 2) {
        const Address to{&c, (rank + distance) % size, tag, true};
        const Address from{&c, (rank - distance + size) % size, tag, true};
        if (const int error = exchange(nothing, to, nothing, from)) return error;
    }
    return MPI_SUCCESS;
}

int gather(const Data* mine, const Slots* all, int root, Communicator& c) {
    Exchange exchange{c};
    if (c.rank() != root) {
        exchange.send(*mine, root);
        return exchange.finish();
    }
    for (int rank = 0; rank < c.size(); ++rank)
        if (rank != root) exchange.receive((*all)[rank], rank);
    const int error = mine ? copy(*mine, (*all)[root]) : MPI_SUCCESS;
    const int others = exchange.finish();
    return error ? error : others;
}

int scatter(const Slots* all, const Data* mine, int root, Communicator& c) {
    Exchange exchange{c};
    if (c.rank() != root) {
        exchange.receive(*mine, root);
        return exchange.finish();
    }
    for (int rank = 0; rank < c.size(); ++rank)
        if (rank != root) exchange.send((*all)[rank], rank);
    const int error = mine ? copy((*all)[root], *mine) : MPI_SUCCESS;
    const int others = exchange.finish();
    return error ? error : others;
}

// A ring: each passes on what it got in the round before.
int allgather(const Data* mine, const Slots& all, Communicator& c) {
    const int size = c.size(), rank = c.rank(), tag = c.next_collective();
    if (mine)
        if (const int error = copy(*mine, all[rank])) return error;
    for (int round = 0; round < size - 1; ++round) {
        const Address to{&c, (rank + 1) % size, tag, true};
        const Address from{&c, (rank - 1 + size) % size, tag, true};
        const Data out = all[(rank - round + size) % size];
        const Data in = all[(rank - round - 1 + size) % size];
        if (const int error = exchange(out, to, in, from)) return error;
    }
    return MPI_SUCCESS;
}

// All at once, each beginning with the one behind it.
int alltoall(const Slots* out, const Slots& in, Communicator& c) {
    const int size = c.size(), rank = c.rank();
    std::vector<std::vector<std::byte>> packed; // what is about to be overwritten
    if (!out) {
        packed.resize(static_cast<size_t>(size));
        for (int peer = 0; peer < size; ++peer) {
            auto& bytes = packed[static_cast<size_t>(peer)];
            bytes.resize(in[peer].bytes());
            in[peer].pack(0, bytes);
        }
    }
    const auto to = [&](int peer) {
        if (out) return (*out)[peer];
        auto& bytes = packed[static_cast<size_t>(peer)];
        return Data{bytes.data(), bytes.size(), *Datatype::of(MPI_BYTE)};
    };
    Exchange exchange{c};
    for (int i = 1; i < size; ++i) {
        const int from = (rank - i + size) % size;
        exchange.receive(in[from], from);
    }
    for (int i = 1; i < size; ++i) exchange.send(to((rank + i) % size), (rank + i) % size);
    const int error = out ? copy(to(rank), in[rank]) : MPI_SUCCESS;
    const int others = exchange.finish();
    return error ? error : others;
}

} // namespace odrc::mpi
