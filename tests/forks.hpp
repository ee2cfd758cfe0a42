// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <doctest/doctest.h>

// Marks a test case whose children, forked from a process with threads, start threads of their
// own: ThreadSanitizer cannot follow them, and says so by ending them.
inline doctest::skip forks() {
#ifdef ODRC_THREAD_SANITIZER
    return doctest::skip(true);
#else
    return doctest::skip(false);
#endif
}

// To fork a process that AddressSanitizer watches over takes ten times as long.
#ifdef ODRC_ADDRESS_SANITIZER
inline constexpr int kForks = 200;
#else
inline constexpr int kForks = 400;
#endif
