// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/fi_odrc.h"

namespace odrc::ofi {

// What an endpoint has counted, as fi_odrc.h has it.
extern fi_odrc_statistics_ops statistics_ops;

} // namespace odrc::ofi
