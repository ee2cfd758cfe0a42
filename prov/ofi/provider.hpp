// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <rdma/providers/fi_prov.h>

namespace odrc::ofi {

// Fills in the provider's entry points and reads its parameters.
fi_provider* initialize() noexcept;

} // namespace odrc::ofi
