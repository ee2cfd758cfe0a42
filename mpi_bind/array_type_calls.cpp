// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 4.1.3 and 4.1.4: datatypes of parts of arrays.

#include "api.hpp"
#include "types.hpp"

using namespace odrc::mpi;

namespace {

// The first dimension is farthest apart, as in C.
void order_as_in_c(std::vector<Share>& shares, int order) {
    if (order == MPI_ORDER_FORTRAN) std::ranges::reverse(shares);
}

bool is_order(int order) noexcept { return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN; }

size_t size(int n) noexcept { return static_cast<size_t>(n); }

// Blocks of so many elements, dealt to the processes of a dimension in turns (4.1.4). None: they
// cannot be so.
std::optional<Share> share_of(int elements, int distribution, int argument, int processes,
                              int place) {
    if (elements < 1 || processes < 1) return std::nullopt;
    int block = 1;
    switch (distribution) {
    case MPI_DISTRIBUTE_NONE:
        if (processes != 1) return std::nullopt;
        block = elements;
        break;
    case MPI_DISTRIBUTE_BLOCK:
        block = argument == MPI_DISTRIBUTE_DFLT_DARG ? (elements + processes - 1) / processes
                                                     : argument;
        if (block < 1 || static_cast<int64_t>(block) * processes < elements) return std::nullopt;
        break;
    case MPI_DISTRIBUTE_CYCLIC:
        block = argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument;
        if (block < 1) return std::nullopt;
        break;
    default:
        return std::nullopt;
    }
    Share share{size(elements), {}};
    for (int64_t first = static_cast<int64_t>(place) * block; first < elements;
         first += static_cast<int64_t>(block) * processes)
        share.runs.push_back({static_cast<size_t>(first),
                              static_cast<size_t>(std::min<int64_t>(block, elements - first))});
    return share;
}

} // namespace

ODRC_MPI(Type_create_subarray, (int dims, const int* sizes, const int* subsizes, const int* starts,
                                int order, MPI_Datatype type, MPI_Datatype* made)) {
    constexpr const char* kCall = "MPI_Type_create_subarray";
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, kCall);
    if (dims < 1 || !is_order(order)) return fail_in_world(MPI_ERR_ARG, kCall);
    std::vector<Share> shares;
    for (int i = 0; i < dims; ++i) {
        if (subsizes[i] < 1 || starts[i] < 0 || subsizes[i] > sizes[i] ||
            starts[i] > sizes[i] - subsizes[i])
            return fail_in_world(MPI_ERR_ARG, kCall);
        shares.push_back({size(sizes[i]), {{size(starts[i]), size(subsizes[i])}}});
    }
    order_as_in_c(shares, order);
    *made = make_array_part(shares, *t)->handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Type_create_darray,
         (int processes, int rank, int dims, const int* sizes, const int* distributions,
          const int* arguments, const int* process_sizes, int order, MPI_Datatype type,
          MPI_Datatype* made)) {
    constexpr const char* kCall = "MPI_Type_create_darray";
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, kCall);
    if (dims < 1 || !is_order(order)) return fail_in_world(MPI_ERR_ARG, kCall);
    Grid grid; // of processes, always in the order of C
    for (int i = 0; i < dims; ++i) grid.dimensions.push_back({process_sizes[i], false});
    if (grid.size() != processes || rank < 0 || rank >= processes)
        return fail_in_world(MPI_ERR_ARG, kCall);
    const std::vector<int> places = grid.coordinates_of(rank);
    std::vector<Share> shares;
    for (int i = 0; i < dims; ++i) {
        auto share =
            share_of(sizes[i], distributions[i], arguments[i], process_sizes[i], places[size(i)]);
        if (!share) return fail_in_world(MPI_ERR_ARG, kCall);
        shares.push_back(std::move(*share));
    }
    order_as_in_c(shares, order);
    *made = make_array_part(shares, *t)->handle();
    return MPI_SUCCESS;
}
