// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "context.hpp"

#include "collectives.hpp"
#include "op.hpp"
#include "tag.hpp"

#include <array>
#include <bit>

namespace odrc::mpi {

namespace {

// Each communicator has two contexts, of which the last pair is for acknowledgements (tag.hpp).
constexpr size_t kPairs = (size_t{1} << kContextBits) / 2;
constexpr size_t kWords = 64; // of those that are looked at: so many communicators at a time
using FreePairs = std::array<uint64_t, kWords>;
static_assert(kWords * 64 < kPairs);

FreePairs& free_pairs() noexcept {
    static FreePairs pairs = [] {
        FreePairs all;
        all.fill(~uint64_t{0});
        all[0] &= ~uint64_t{3}; // the world and the self
        return all;
    }();
    return pairs;
}

} // namespace

void give_back_context(uint32_t context) noexcept {
    free_pairs()[context / 2 / 64] |= uint64_t{1} << (context / 2 % 64);
}

std::optional<uint32_t> take_context(Communicator& parent, int& error) {
    FreePairs common = free_pairs();
    const Data data{common.data(), kWords, *Datatype::of(MPI_UINT64_T)};
    error = allreduce(MPI_IN_PLACE, data, *Op::of(MPI_BAND), parent);
    if (error) return std::nullopt;
    for (size_t i = 0; i < kWords; ++i) {
        if (common[i] == 0) continue;
        const auto bit = static_cast<size_t>(std::countr_zero(common[i]));
        free_pairs()[i] &= ~(uint64_t{1} << bit);
        return static_cast<uint32_t>((i * 64 + bit) * 2);
    }
    error = MPI_ERR_OTHER;
    return std::nullopt;
}

} // namespace odrc::mpi
