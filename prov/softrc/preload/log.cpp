// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The three functions of libfabric that the device's code calls, in small. A program that speaks
// verbs has no libfabric, and one that was loaded for us alone would stay silent: it reads its
// settings only when it is first asked for providers.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <strings.h>
#include <unistd.h>

namespace {

// As libfabric reads it: nothing is logged unless asked for, and what it cannot read is "warn".
int level_from_environment() noexcept {
    const char* value = std::getenv("FI_LOG_LEVEL");
    if (!value) return -1;
    constexpr const char* kNames[] = {"warn", "trace", "info", "debug"};
    for (int level = FI_LOG_WARN; level <= FI_LOG_DEBUG; ++level)
        if (strcasecmp(value, kNames[level]) == 0) return level;
    return FI_LOG_WARN;
}

} // namespace

extern "C" int fi_log_enabled(const fi_provider*, fi_log_level level, fi_log_subsys) {
    static const int wanted = level_from_environment();
    return static_cast<int>(level) <= wanted;
}

extern "C" void fi_log(const fi_provider* provider, fi_log_level, fi_log_subsys,
                       const char* function, int line, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "%s-verbs:%d:%s():%d %s", provider->name, getpid(), function, line, text);
}

extern "C" const char* fi_strerror(int code) { return std::strerror(code); }
