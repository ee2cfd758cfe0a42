// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

namespace odrc::mpi {

// A value and where it was (MPI 5.9.4): MPI_FLOAT_INT and the like are laid out as C has them.
template <class Value, class Index>
struct PairOf {
    Value value;
    Index index;
};

} // namespace odrc::mpi
