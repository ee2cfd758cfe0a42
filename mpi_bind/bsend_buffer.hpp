// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>

namespace odrc::mpi {

// The buffer that a program attaches for its buffered sends (MPI 3.6). It bounds what they take;
// where their bytes lie meanwhile is ours to say, and it is not in there.
class BsendBuffer {
public:
    static bool attach(void* memory, size_t size) noexcept; // false: there is one
    static bool take(size_t bytes) noexcept;                // false: it has not as many left
    static void give_back(size_t bytes) noexcept { used_ -= bytes; }
    // Waits until nothing of it is used.
    static void* detach(size_t& size) noexcept;

private:
    static void* memory_;
    static size_t size_;
    static size_t used_;
};

} // namespace odrc::mpi
