// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <fmt/core.h>
#include <string>

namespace odrc::mpi {

// Says so on stderr and ends the job.
[[noreturn]] void end_job(int code, const std::string& text) noexcept;
[[noreturn]] void end_job(fmt::string_view format, fmt::format_args args) noexcept;

template <class... Args>
[[noreturn]] void fatal(fmt::format_string<Args...> text, Args&&... args) noexcept {
    end_job(text, fmt::make_format_args(args...));
}

} // namespace odrc::mpi
