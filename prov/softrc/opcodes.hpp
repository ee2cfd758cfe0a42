// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <infiniband/verbs.h>

namespace odrc::soft {

// What there is to know of an operation (IBTA 1.4, 10.8.2).
struct Opcode {
    bool of_rc, of_ud;  // types of queue pair that have it
    bool brings_data;   // something comes back, and is written into the segments
    bool atomic;        // and is the value that 64 bits had before
    bool immediate;     // takes a value to the receiver's completion
    ibv_wc_opcode done; // as its completion calls it
};

inline constexpr Opcode kOpcodes[] = {
    /* RDMA_WRITE */ {true, false, false, false, false, IBV_WC_RDMA_WRITE},
    /* RDMA_WRITE_WITH_IMM */ {true, false, false, false, true, IBV_WC_RDMA_WRITE},
    /* SEND */ {true, true, false, false, false, IBV_WC_SEND},
    /* SEND_WITH_IMM */ {true, true, false, false, true, IBV_WC_SEND},
    /* RDMA_READ */ {true, false, true, false, false, IBV_WC_RDMA_READ},
    /* ATOMIC_CMP_AND_SWP */ {true, false, true, true, false, IBV_WC_COMP_SWAP},
    /* ATOMIC_FETCH_AND_ADD */ {true, false, true, true, false, IBV_WC_FETCH_ADD},
};
inline constexpr Opcode kNoOpcode{};
static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1 && IBV_WR_SEND == 2 &&
              IBV_WR_SEND_WITH_IMM == 3 && IBV_WR_RDMA_READ == 4 &&
              IBV_WR_ATOMIC_CMP_AND_SWP == 5 && IBV_WR_ATOMIC_FETCH_AND_ADD == 6);

// Of one that the device does not have: nothing.
constexpr const Opcode& what_is(ibv_wr_opcode opcode) noexcept {
    const auto index = static_cast<uint32_t>(opcode);
    return index < sizeof kOpcodes / sizeof *kOpcodes ? kOpcodes[index] : kNoOpcode;
}

inline uint64_t length_of(const ibv_send_wr& wr) noexcept {
    uint64_t length = 0;
    for (int i = 0; i < wr.num_sge; ++i) length += wr.sg_list[i].length;
    return length;
}

} // namespace odrc::soft
