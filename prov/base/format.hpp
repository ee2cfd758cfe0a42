// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <fmt/core.h>
#include <string>

namespace odrc {

// fmt's own code is compiled in one file alone: in every file that writes a line it would take half
// of the time that this takes to compile.
std::string vformat(fmt::string_view format, fmt::format_args args);

template <class... Args>
std::string format(fmt::format_string<Args...> format, Args&&... args) {
    return odrc::vformat(format, fmt::make_format_args(args...));
}

} // namespace odrc
