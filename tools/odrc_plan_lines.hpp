// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "tools/odrc_plan_model.hpp"

namespace odrc::plan {

// What is shown of what a job takes: a line of a table, or all of it as a line of JSON.
std::string heading();
std::string line(const Needs& needs);
std::string json(const Needs& needs);

} // namespace odrc::plan
