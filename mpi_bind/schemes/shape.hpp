// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "blocks.hpp"
#include "schemes/words.hpp"

namespace odrc::mpi {

// All that lies between the first byte and the last.
inline std::span<std::byte> extent_of(const Data& data) {
    const Layout& layout = *data.type->layout();
    const ptrdiff_t last = static_cast<ptrdiff_t>(data.count - 1) * data.type->extent();
    std::byte* const begin = data.address + layout.begin() + std::min<ptrdiff_t>(0, last);
    return {begin, data.address + layout.end() + std::max<ptrdiff_t>(0, last)};
}

inline Shape shape_of(const Data& data) {
    const Blocks& blocks = blocks_of(data);
    return {.piece = blocks.mean(), .median = blocks.median, .extent = extent_of(data).size()};
}

} // namespace odrc::mpi
