// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/adapter.hpp"

namespace odrc::verbs {

// What the other side must know to connect to a queue pair (IBTA 1.4, 12.9: the CM's REQ/REP).
struct QpAddress {
    uint32_t qpn;
    uint32_t psn;
    uint16_t lid;
    uint8_t mtu;       // ibv_mtu
    uint8_t rd_atomic; // RDMA reads it takes at a time
    ibv_gid gid;
};

// What of it is the same for all queue pairs of a port.
QpAddress local_address(const Port& port) noexcept;

// Receives of a queue pair that shares none with others.
inline constexpr uint32_t kOwnReceives = 64;

// A reliable connection in the making, or made.
class QueuePair {
public:
    struct Depth {
        uint32_t work_requests;
        uint32_t segments; // of one work request
    };

    // In INIT, with an address to give to the other side. srq: where its receives come from; null:
    // it has its own. access: what that may do with our memory
    // (IBV_ACCESS_*). Throws Error.
    QueuePair(Adapter& adapter, ibv_cq* cq, ibv_srq* srq, Depth depth, int access);

    const QpAddress& address() const noexcept { return address_; }
    // The first packet sequence number, where it is not to be a random one. Before it is connected.
    void begin_at(uint32_t psn) noexcept { address_.psn = psn; }
    uint32_t max_inline() const noexcept { return max_inline_; }
    uint32_t depth() const noexcept { return depth_.work_requests; } // at a time
    uint32_t segments() const noexcept { return depth_.segments; }   // of one
    uint32_t number() const noexcept { return qp_->qp_num; }
    ibv_qp* get() const noexcept { return qp_.get(); }

    // Through RTR to RTS. Gives 0 or a positive errno.
    int connect(const QpAddress& remote) noexcept;

    // As Context::peer_memory.
    const std::byte* peer_memory(uint64_t address, uint32_t rkey, size_t length) noexcept {
        return adapter_.context().peer_memory(qp_.get(), address, rkey, length);
    }

    // As DirectOps, where the device delivers.
    std::byte* begin_write(uint64_t address, uint32_t rkey, uint32_t length) noexcept {
        return adapter_.context().direct().begin_write(qp_.get(), address, rkey, length);
    }
    void end_write() noexcept { adapter_.context().direct().end_write(qp_.get()); }

    // As Context::is_far.
    bool is_far() noexcept { return adapter_.context().is_far(qp_.get()); }

    // To the error state: what is posted is flushed.
    void fail() noexcept;

private:
    int to_init(int access) noexcept;

    Adapter& adapter_;
    Qp qp_;
    QpAddress address_{};
    Depth depth_;
    uint32_t max_inline_{0};
};

} // namespace odrc::verbs
