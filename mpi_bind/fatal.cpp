// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#define FMT_HEADER_ONLY // no shared library for the programs that are linked to us
#include <fmt/format.h>

#include "process.hpp"

#include <cstdio>
#include <cstdlib>

namespace odrc::mpi {

void end_job(int code, const std::string& text) noexcept {
    const bool is_there = Process::is_there();
    const int rank = is_there ? Process::get().launch().rank() : -1;
    std::fprintf(stderr, "odrc-mpi: rank %d: %s\n", rank, text.c_str());
    if (is_there) Process::get().launch().abort(code, text.c_str());
    std::_Exit(code & 0xff ? code & 0xff : 1);
}

void end_job(fmt::string_view format, fmt::format_args args) noexcept {
    end_job(MPI_ERR_OTHER, fmt::vformat(format, args));
}

} // namespace odrc::mpi
