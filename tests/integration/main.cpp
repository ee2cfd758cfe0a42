// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <doctest/doctest.h>

int main(int argc, char** argv) {
    // What is measured differs from machine to machine, and would be kept in the user's cache.
    setenv("FI_ODRC_CROSSOVERS", "fixed", 0);
    return doctest::Context{argc, argv}.run();
}
