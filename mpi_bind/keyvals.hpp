// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "handle.hpp"

// What a program keeps with communicators (MPI 6.7.2). Below kFirstKeyval are those that are known
// of an environment.
namespace odrc::mpi {

inline constexpr int kFirstKeyval = 64;

struct Keyval {
    MPI_Comm_copy_attr_function* copy;
    MPI_Comm_delete_attr_function* remove;
    void* extra;
    int users{0};      // communicators that have one
    bool freed{false}; // by the program: it goes with the last of them
};

int make_keyval(const Keyval& keyval);
Keyval* keyval_of(int number) noexcept; // null: there is none, or nobody uses it any more
void free_keyval(int number) noexcept;
void drop_keyval(int number) noexcept; // one of its users

} // namespace odrc::mpi
