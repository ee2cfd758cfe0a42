// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/atomic_operation.hpp"

#include <array>
#include <optional>
#include <rdma/fi_domain.h>
#include <span>
#include <sys/uio.h>

namespace odrc::transfer {

// A collective of fi_collective(3), as one member of its group sees it. Members are known by their
// rank, the place that they have in the group.
struct Collective {
    fi_collective_op kind{FI_BARRIER};
    uint32_t rank{0};
    uint32_t size{1}; // of the group
    uint32_t root{0}; // where there is one
    // What one member gives to one other, or to all alike: so many bytes, and elements.
    size_t block{0};
    size_t elements{0};
    bool agreed{false}; // allgather: a barrier follows, so that it ends well for all or for none
    const AtomicOperation* operation{nullptr}; // what combines them, if they are
    std::byte* data{nullptr};                  // the program's two buffers
    std::byte* result{nullptr};
    // Where blocks are combined: one of our own, and one for what comes in; as aligned as any type.
    std::byte* sum{nullptr};
    std::byte* incoming{nullptr};

    bool combines() const noexcept {
        return kind == FI_ALLREDUCE || kind == FI_REDUCE || kind == FI_REDUCE_SCATTER;
    }
    bool has_root() const noexcept {
        return kind == FI_BROADCAST || kind == FI_REDUCE || kind == FI_SCATTER || kind == FI_GATHER;
    }
    bool is_root() const noexcept { return rank == root; }
};

// One side of a message between two members: the other one, and our memory, in at most two pieces.
struct Exchange {
    uint32_t rank;
    std::array<iovec, 2> pieces;

    // Those that are not empty.
    std::span<const iovec> list() const noexcept {
        return {pieces.data(), size_t{pieces[0].iov_len > 0} + size_t{pieces[1].iov_len > 0}};
    }
    size_t bytes() const noexcept { return pieces[0].iov_len + pieces[1].iov_len; }
};

// In a round, a member sends at most one message and receives at most one, both at once. When both
// are over, what came is combined with the sum, if so said, and the next round begins. Between any
// two members messages are sent and received in the same order.
struct Round {
    std::optional<Exchange> send{};
    std::optional<Exchange> receive{};
    bool combine{false};
};

// A member's rounds, numbered from 0; none behind the last one.
std::optional<Round> round_of(const Collective& c, uint32_t number) noexcept;

// What a member does by itself, before the first round and after the last.
void contribute(const Collective& c) noexcept;
void combine(const Collective& c) noexcept;
void conclude(const Collective& c) noexcept;

} // namespace odrc::transfer
