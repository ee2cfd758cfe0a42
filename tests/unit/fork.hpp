// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Test cases of two processes.

#include "soft_rig.hpp"

#include <atomic>
#include <functional>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rig {

// What parent and child tell each other.
struct Board {
    std::atomic<uint32_t> parent_qpn{0}, child_qpn{0};
    std::atomic<uint64_t> address{0}, added{0}, joined{0};
    std::atomic<uint32_t> rkey{0};
    std::atomic<bool> child_connected{false}, done{false};
};

struct BoardMemory {
    Board* board = new (mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Board;
    ~BoardMemory() { munmap(board, sizeof(Board)); }
};

inline uint32_t await(std::atomic<uint32_t>& value) {
    while (value == 0) sched_yield();
    return value;
}

inline pid_t fork_child(const std::function<void()>& body) {
    malloc_trim(0); // memory that other tests had, of which each child would get a page table
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        body();
    } catch (...) { // a check that the test cannot do without
        _exit(1);
    }
    _exit(0);
}

inline void child_connects(Side& side, ibv_qp* qp, Board& board) {
    board.child_qpn = qp->qp_num;
    side.to_init(qp);
    side.to_rtr(qp, await(board.parent_qpn));
    side.to_rts(qp);
    board.child_connected = true;
}

// Until the child is ready to receive, too: nothing that the parent sends runs out of its tries.
inline void parent_connects(Side& side, ibv_qp* qp, Board& board) {
    side.connect(qp, await(board.child_qpn));
    board.parent_qpn = qp->qp_num;
    while (!board.child_connected) sched_yield();
}

} // namespace rig
