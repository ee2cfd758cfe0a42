// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/fi_odrc.h"

namespace odrc::ofi {

// Lists of queue pairs, as fi_odrc.h has them.
extern fi_odrc_ranges_ops ranges_ops;

} // namespace odrc::ofi
