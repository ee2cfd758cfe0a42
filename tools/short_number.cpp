// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tools/short_number.hpp"

#include "base/format.hpp"

namespace odrc {

std::string short_number(double value) {
    if (value < 99'999.5) return odrc::format("{:.0f}", value);
    const char* unit = "KMGTPE";
    for (value /= 1000; value >= 999.5 && unit[1]; ++unit) value /= 1000;
    return odrc::format("{:.{}f}{}", value, value < 99.95 ? 1 : 0, *unit);
}

} // namespace odrc
