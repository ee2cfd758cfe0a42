// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/shared.hpp"
#include "fabtests_ext/support/team.hpp"

#include <array>
#include <cstddef>

namespace bench {

using fabtests_ext::Shared;
using fabtests_ext::Team;

// The sizes at which bandwidth is measured everywhere.
inline constexpr std::array<size_t, 4> kBlocks{64u << 10, 512u << 10, 1u << 20, 4u << 20};

// How fast one processor copies into or out of another process's memory: by the kernel where that
// is private, by memcpy where both have it mapped.
class SingleCopy {
public:
    void run(Team& team, int batches) const;

private:
    struct Block {
        std::byte bytes[kBlocks.back()];
    };
    Shared<Block> mapped_; // made before the processes are
};

} // namespace bench
