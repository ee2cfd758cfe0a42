// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/log.hpp"

namespace odrc {

fi_provider provider{.version = 0,
                     .fi_version = 0,
                     .context = {},
                     .name = "odrc",
                     .getinfo = nullptr,
                     .fabric = nullptr,
                     .cleanup = nullptr};

void detail::log_line(fi_log_level level, fi_log_subsys area, const char* function, int line,
                      fmt::string_view format, fmt::format_args args) noexcept {
    try {
        fi_log(&provider, level, area, function, line, "%s\n", odrc::vformat(format, args).c_str());
    } catch (...) {
        fi_log(&provider, level, area, function, line, "(no memory to format this line)\n");
    }
}

} // namespace odrc
