// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Logging through libfabric (fi_log(3) levels by FI_LOG_LEVEL). The function that first decides
// an error logs it once, with device, peer and state; callers only pass it on.

#include "base/format.hpp"

#include <rdma/providers/fi_log.h>

namespace odrc {

// The handle under which this library logs and reads its parameters. The ofi room fills in its
// entry points before libfabric sees it.
extern fi_provider provider;

namespace detail {

void log_line(fi_log_level level, fi_log_subsys area, const char* function, int line,
              fmt::string_view format, fmt::format_args args) noexcept;

// Out of line and cold: a formatted line must not weigh on the function that may print it.
template <class... Args>
[[gnu::noinline, gnu::cold]] void log(fi_log_level level, fi_log_subsys area, const char* function,
                                      int line, fmt::format_string<Args...> format,
                                      Args&&... args) noexcept {
    log_line(level, area, function, line, format, fmt::make_format_args(args...));
}

} // namespace detail
} // namespace odrc

#define ODRC_LOG(level, area, ...)                                                                 \
    do {                                                                                           \
        if (fi_log_enabled(&odrc::provider, level, area))                                          \
            odrc::detail::log(level, area, __func__, __LINE__, __VA_ARGS__);                       \
    } while (0)

#define ODRC_WARN(area, ...) ODRC_LOG(FI_LOG_WARN, area, __VA_ARGS__)
#define ODRC_INFO(area, ...) ODRC_LOG(FI_LOG_INFO, area, __VA_ARGS__)
