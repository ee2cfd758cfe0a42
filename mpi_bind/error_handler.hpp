// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "handle.hpp"

namespace odrc::mpi {

// MPI 8.3: what becomes of an error that a call had: the job ends, the call gives it back, or a
// function of the program's is called first.
class ErrorHandler : public Counted {
public:
    explicit ErrorHandler(MPI_Comm_errhandler_function* f) noexcept
        : function{f} {}
    static Ref<ErrorHandler> of(MPI_Errhandler handle) noexcept; // none: there is none
    static ErrorHandler& fatal() noexcept;
    static ErrorHandler& gives_back() noexcept;
    // For a program to have, which frees it.
    MPI_Errhandler handle() noexcept;

    MPI_Comm_errhandler_function* const function; // of the predefined ones: null
};

const char* text_of(int error) noexcept;

// Of a call that names no communicator, or none that there is: the world's handler has it.
int fail_in_world(int error, const char* call) noexcept;
inline int outcome_in_world(int error, const char* call) noexcept {
    return error == MPI_SUCCESS ? error : fail_in_world(error, call);
}

} // namespace odrc::mpi
