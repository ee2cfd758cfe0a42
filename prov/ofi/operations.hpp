// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <rdma/fabric.h>

namespace odrc::ofi {

// fi_open_ops(3) of an endpoint: what fi_odrc.h has.
int open_operations(fid* endpoint, const char* name, uint64_t flags, void** ops,
                    void* context) noexcept;

// That of a domain.
int open_domain_operations(fid* domain, const char* name, uint64_t flags, void** ops,
                           void* context) noexcept;

} // namespace odrc::ofi
