// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <rdma/fabric.h>

namespace odrc::ofi {

// fi_getinfo(3): an fi_info for each device port that can do what is asked.
int getinfo(uint32_t version, const char* node, const char* service, uint64_t flags,
            const fi_info* hints, fi_info** info) noexcept;

} // namespace odrc::ofi
