// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// For libFuzzer: an input is a key or none, and what is said.

#include "wireup.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    fuzz::Talk talk{data[0] & 1 ? "k" : ""};
    for (size_t at = 1; at + sizeof(fuzz::Saying) <= size; at += sizeof(fuzz::Saying)) {
        fuzz::Saying saying;
        std::memcpy(&saying, data + at, sizeof saying);
        talk.say(saying);
    }
    return 0;
}
