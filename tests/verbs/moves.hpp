// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// How a queue pair gets from state to state.

#include "device.hpp"

namespace rig {

inline constexpr unsigned kRemoteAccess =
    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

// What both ends of a connection are told.
struct Path {
    uint8_t timeout{16}; // 0.27 s
    uint8_t retries{6};
    uint8_t rnr_retries{7}; // for ever
    uint8_t rnr_timer{1};   // 0.01 ms
    uint8_t reads{4};
    ibv_mtu mtu{IBV_MTU_1024};
    unsigned access{kRemoteAccess};
    uint32_t psn{0};
};

// The arguments of ibv_modify_qp.
struct Move {
    ibv_qp_attr attr{};
    int mask{IBV_QP_STATE};
};

Move to(ibv_qp_state state);

// With what the table of transitions demands, and no more.
Move to_init(const Path& path = {});
Move to_rtr(uint32_t peer, const Path& path = {});
Move to_rts(const Path& path = {});

inline constexpr uint32_t kQkey = 0x1234567;
Move datagrams_to_init(uint32_t qkey = kQkey);
Move datagrams_to_rts();

int modify(ibv_qp* qp, Move move);

// What ibv_query_qp says.
ibv_qp_attr query(ibv_qp* qp);
ibv_qp_state state(ibv_qp* qp);

// Waits for a state that the device enters by itself.
void await_state(ibv_qp* qp, ibv_qp_state wanted);

void connect(ibv_qp* qp, uint32_t peer, const Path& path = {});
void ready_for_datagrams(ibv_qp* qp, uint32_t qkey = kQkey);

} // namespace rig
