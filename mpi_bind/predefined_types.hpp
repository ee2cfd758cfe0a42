// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

#include <array>

namespace odrc::mpi {

// MPI_CHAR and so on: by the numbers that are their handles.
struct PredefinedTypes {
    PredefinedTypes();
    static PredefinedTypes& get();

    static constexpr size_t kCount = 59; // with MPI_DATATYPE_NULL, which is none
    std::array<std::unique_ptr<Datatype>, kCount> types;

private:
    template <class T>
    void add(MPI_Datatype handle, const char* name, Basic basic);
    template <class Value, class Index>
    void add_pair(MPI_Datatype handle, const char* name, Basic basic);
    void put(MPI_Datatype handle, const char* name, Basic basic, std::unique_ptr<Datatype> type);
};

} // namespace odrc::mpi
