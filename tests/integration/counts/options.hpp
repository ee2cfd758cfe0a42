// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/command_line.hpp"
#include "measurement.hpp"

namespace counts {

// The options by which programs here choose what they count.
inline void add_settings(fabtests_ext::CommandLine& command, Settings& settings,
                         const std::vector<std::string>& operations) {
    command.option("-o,--operation", settings.operations, "these alone (default: all)")
        .with_commas()
        .one_of(operations);
    command.option("-n,--times", settings.times, "of which the mean is taken (default: enough)");
    command.flag("--observe", settings.observe,
                 "count what is posted to a device, allocations, system calls");
    command.flag("!--untraced", settings.traced, "of these, just what is posted")
        .needs("--observe");
}

} // namespace counts
