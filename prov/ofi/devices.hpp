// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

#include <vector>

namespace odrc::ofi {

// The device ports that may be used (FI_ODRC_DEVICE): hardware first, then soft0. Looked for
// once; what the list holds lives as long as the library is loaded.
const std::vector<std::unique_ptr<verbs::Device>>& devices();

// The device of a domain's name, or null.
const verbs::Device* find_device(const char* domain_name);

} // namespace odrc::ofi
