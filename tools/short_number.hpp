// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <string>

namespace odrc {

// "17", "12.3K", "4.5G": in six characters.
std::string short_number(double value);

} // namespace odrc
