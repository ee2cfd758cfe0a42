// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI's one-sided communication, checked by what is in memory afterwards. All ranks run all tests
// together.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int status = doctest::Context{argc, argv}.run();
    MPI_Finalize();
    return status;
}
