// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/traffic.hpp"

#include <cstdint>
#include <doctest/doctest.h>

using odrc::BySize;

TEST_CASE("a message is counted in the first class that it fits into") {
    CHECK(BySize::class_of(0) == 0);
    CHECK(BySize::class_of(1) == 0);
    for (size_t i = 0; i < BySize::kBounds.size(); ++i) {
        CHECK(BySize::class_of(BySize::kBounds[i]) == i);
        CHECK(BySize::class_of(BySize::kBounds[i] + 1) == i + 1);
    }
    CHECK(BySize::class_of(SIZE_MAX) == BySize::kClasses - 1);

    BySize sizes;
    sizes.count(100);
    sizes.count(256);
    CHECK(sizes.classes[1].messages == 2);
    CHECK(sizes.classes[1].bytes == 356);
    CHECK(sizes.classes[0].messages == 0);
}
