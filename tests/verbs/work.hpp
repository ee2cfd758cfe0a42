// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Work requests, and how they are posted.

#include "objects.hpp"

#include <vector>

namespace rig {

struct Work {
    uint64_t id{0};
    ibv_wr_opcode opcode{IBV_WR_SEND};
    std::vector<ibv_sge> segments{};
    unsigned flags{IBV_SEND_SIGNALED};
    uint32_t imm{0};
    // RDMA and atomics
    uint64_t remote{0};
    uint32_t rkey{0};
    uint64_t compare_add{0};
    uint64_t swap{0};
    // datagrams
    ibv_ah* ah{nullptr};
    uint32_t qpn{0};
    uint32_t qkey{0};
};

struct Receive {
    uint64_t id{0};
    std::vector<ibv_sge> segments{};
};

// What came of posting a list: the call's value, and which request it named as the bad one.
struct Posted {
    static constexpr ptrdiff_t kNone = -1;
    int error;
    ptrdiff_t bad;
};

Posted post_list(ibv_qp* qp, const std::vector<Work>& list);
Posted post_receive_list(ibv_qp* qp, const std::vector<Receive>& list);
Posted post_receive_list(ibv_srq* srq, const std::vector<Receive>& list);

inline int post(ibv_qp* qp, const Work& work) { return post_list(qp, std::vector{work}).error; }

template <class Queue>
int post_receive(Queue* queue, const Receive& receive) {
    return post_receive_list(queue, std::vector{receive}).error;
}

} // namespace rig
