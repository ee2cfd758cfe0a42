// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

#include <vector>

namespace odrc::verbs {

// The active ports of all devices known to libibverbs that offer reliable connections and shared
// receive queues. A port that cannot be used is passed over with one FI_INFO line saying why.
std::vector<std::unique_ptr<Device>> find_hca_devices();

} // namespace odrc::verbs
