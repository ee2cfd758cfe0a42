// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// For libFuzzer: an input is a list.

#include "range_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::read_list(std::as_bytes(std::span{data, size}));
    return 0;
}
