// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/fi_odrc.h"

namespace odrc::ofi {

extern fi_odrc_multicast_ops multicast_ops;

} // namespace odrc::ofi
