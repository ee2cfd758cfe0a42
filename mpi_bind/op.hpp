// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

namespace odrc::mpi {

// MPI 5.9: what makes one value of two. A program's own function, or a predefined one, which is
// defined for some predefined types.
class Op : public Counted {
public:
    Op(MPI_User_function* function, bool commutes) noexcept
        : commutes_{commutes}
        , function_{function} {}
    explicit Op(MPI_Op predefined) noexcept
        : predefined_{predefined} {}

    static Op* of(MPI_Op handle) noexcept; // null: there is none
    MPI_Op handle() noexcept;
    bool is_predefined() const noexcept { return predefined_ != MPI_OP_NULL; }
    bool commutes() const noexcept { return commutes_; }
    bool takes(const Datatype& type) const noexcept;

    // inout[i] = in[i] op inout[i], of `count` elements.
    void apply(const void* in, void* inout, size_t count, Datatype& type) const;

private:
    const MPI_Op predefined_{MPI_OP_NULL};
    const bool commutes_{true};
    MPI_User_function* const function_{nullptr};
};

} // namespace odrc::mpi
