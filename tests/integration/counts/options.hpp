// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "measurement.hpp"

#include <CLI/CLI.hpp>

namespace counts {

// The options by which programs here choose what they count.
inline void add_settings(CLI::App& app, Settings& settings,
                         const std::vector<std::string>& operations) {
    app.add_option("-o,--operation", settings.operations, "these alone (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember(operations));
    app.add_option("-n,--times", settings.times, "of which the mean is taken (default: enough)");
    auto* observe = app.add_flag("--observe", settings.observe,
                                 "count what is posted to a device, allocations, system calls");
    app.add_flag("!--untraced", settings.traced, "of these, just what is posted")->needs(observe);
}

} // namespace counts
