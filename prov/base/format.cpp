// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#define FMT_HEADER_ONLY // no shared library for the programs that load us
#include <fmt/format.h>

#include "base/format.hpp"

namespace odrc {

std::string vformat(fmt::string_view format, fmt::format_args args) {
    return fmt::vformat(format, args);
}

} // namespace odrc
