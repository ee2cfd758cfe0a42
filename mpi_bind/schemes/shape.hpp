// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "blocks.hpp"
#include "schemes/words.hpp"

namespace odrc::mpi {

inline Shape shape_of(const Data& data) {
    const Blocks blocks = blocks_of(data);
    return {.pieces = blocks.count, .mean = blocks.mean(), .median = blocks.median};
}

} // namespace odrc::mpi
