// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "blocks.hpp"
#include "layout_cache.hpp"

namespace odrc::mpi {

Datatype::~Datatype() {
    if (numbers_) numbers_->give_back(number_);
}

const BlockTally& Datatype::block_tally() const {
    if (!block_tally_) block_tally_ = std::make_shared<const BlockTally>(BlockTally::of(*layout_));
    return *block_tally_;
}

} // namespace odrc::mpi
