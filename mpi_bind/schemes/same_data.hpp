// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

namespace odrc::mpi {

// What programs send and receive time and again: as many of the same layout, wherever they lie.
class SameData {
public:
    SameData() = default;
    explicit SameData(const Data& data) noexcept
        : layout_{data.type->layout()}
        , count_{data.count} {}

    bool is(const Data& data) const noexcept {
        return data.count == count_ && data.type->layout() == layout_;
    }

private:
    LayoutRef layout_; // kept, so that no other one has its address
    size_t count_{0};
};

} // namespace odrc::mpi
