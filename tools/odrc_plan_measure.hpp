// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "tools/odrc_plan_costs.hpp"

#include <string>

namespace odrc::plan {

// What queue pairs of a device of this host take, made and connected as the provider's are. Changes
// those costs alone. Throws Error; FI_ENODEV: there is none of that name.
void measure(const std::string& device, Costs& costs);

} // namespace odrc::plan
