// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

// How datatypes are made of others (MPI 4.1.2 to 4.1.7). Displacements and strides are in bytes.
// Each gives a new type, which has one user. The arguments have been checked.
namespace odrc::mpi {

struct Block {
    ptrdiff_t at;
    size_t count;
    const Datatype* type;
};

Datatype* make_contiguous(size_t count, const Datatype& type);
Datatype* make_vector(size_t count, size_t length, ptrdiff_t stride, const Datatype& type);
Datatype* make_blocks(std::span<const Block> blocks);
// The same as a struct: its extent is rounded up to what its types are aligned to (4.1.6).
Datatype* make_struct(std::span<const Block> blocks);
Datatype* make_resized(const Datatype& type, ptrdiff_t lb, ptrdiff_t extent);

// Of one dimension of an array, `size` elements in all, those that a part has: runs of them.
struct Share {
    struct Run {
        size_t first;
        size_t count;
    };
    size_t size;
    std::vector<Run> runs;
};
// The elements of an array that lie in the share of each dimension, the first dimension farthest
// apart; its extent is that of the array.
Datatype* make_array_part(std::span<const Share> dimensions, const Datatype& type);

} // namespace odrc::mpi
