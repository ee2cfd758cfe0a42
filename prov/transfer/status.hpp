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

// The work request itself is to blame, and would fail again.
inline bool is_local_fault(ibv_wc_status status) noexcept {
    return status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_LEN_ERR;
}
inline bool is_refusal(ibv_wc_status status) noexcept {
    return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
           status == IBV_WC_REM_OP_ERR;
}
inline bool is_own_fault(ibv_wc_status status) noexcept {
    return is_local_fault(status) || is_refusal(status);
}

// How a work request has ended.
struct Ending {
    ibv_wc_status status{IBV_WC_SUCCESS};
    bool session_stands{
        true}; // what is not done may be done over the next lane, if that does no harm
    bool never_begun{false}; // the peer has refused what went before it

    bool good() const noexcept { return status == IBV_WC_SUCCESS; }
    // It may be done, or not: it is to be repeated. The peer refuses accesses, but not frames.
    bool lost() const noexcept { return !good() && session_stands && !is_own_fault(status); }
    bool frame_lost() const noexcept {
        return !good() && session_stands && !is_local_fault(status);
    }
};

} // namespace odrc::transfer
