// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

namespace odrc::mpi {

// What programs send and receive time and again: as many of the same layout, as far apart, wherever
// they lie. (A resized datatype has the layout of the one that it was made of.)
class SameData {
public:
    SameData() = default;
    explicit SameData(const Data& data) noexcept
        : layout_{data.type->layout()}
        , extent_{data.type->extent()}
        , count_{data.count} {}

    bool is(const Data& data) const noexcept {
        return data.count == count_ && data.type->layout() == layout_ &&
               data.type->extent() == extent_;
    }

private:
    LayoutRef layout_; // kept, so that no other one has its address
    ptrdiff_t extent_{0};
    size_t count_{0};
};

} // namespace odrc::mpi
