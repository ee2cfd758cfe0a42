// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <infiniband/verbs.h>
#include <rdma/fi_errno.h>

namespace odrc::transfer {

// What a program hears of work on a peer's memory that ended so: a fi_errno value.
inline int error_of(ibv_wc_status status) noexcept {
    switch (status) {
    case IBV_WC_SUCCESS:
        return 0;
    case IBV_WC_REM_ACCESS_ERR: // the key, the bounds or the rights
        return FI_EACCES;
    case IBV_WC_LOC_PROT_ERR: // the same, on our side
        return FI_EFAULT;
    default:
        return FI_ECONNRESET;
    }
}

} // namespace odrc::transfer
