// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <infiniband/verbs.h>

namespace odrc::soft {

// Whether a queue pair of that type may go from one state to another with just these attributes
// (IBV_QP_* mask): all that the transition needs, and none that it does not know (IBTA 1.4, table
// 100).
bool may_modify(ibv_qp_type type, uint32_t from, uint32_t to, int mask) noexcept;

// Whether a queue pair in that state takes in what its peers send.
constexpr bool takes_in(uint32_t state) noexcept {
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD ||
           state == IBV_QPS_SQE;
}

// Whether a path can begin here: at the device's one port, at its one GID.
inline bool may_reach(const ibv_ah_attr& path) noexcept {
    return path.port_num == 1 && (!path.is_global || path.grh.sgid_index == 0);
}

} // namespace odrc::soft
