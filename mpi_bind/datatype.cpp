// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "blocks.hpp"
#include "layout_cache.hpp"

namespace odrc::mpi {

Datatype::~Datatype() {
    if (numbers_) numbers_->give_back(number_);
}

KnownBlocks& Datatype::blocks() const {
    if (!blocks_) blocks_ = std::make_shared<KnownBlocks>(*this);
    return *blocks_;
}

} // namespace odrc::mpi
