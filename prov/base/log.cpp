// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/log.hpp"

namespace odrc {

fi_provider provider{.version = 0,
                     .fi_version = 0,
                     .context = {},
                     .name = "odrc",
                     .getinfo = nullptr,
                     .fabric = nullptr,
                     .cleanup = nullptr};

} // namespace odrc
