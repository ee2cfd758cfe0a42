// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/layout.hpp"

namespace odrc::soft {

// While one of these stands, the queue pair of that port is inside an operation on its peer, and
// the peer's memory stays where it is. What says whether the peer is ready is looked at after
// that: either the peer sees us, and waits, or we see that it goes.
class Busy {
public:
    explicit Busy(QpPort& port) noexcept
        : port_{&port} {
        port.busy.store(port.busy.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    }
    ~Busy() {
        if (port_) end(*port_);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

    // The operation goes on behind this, until somebody ends it.
    void stay() noexcept { port_ = nullptr; }
    static void end(QpPort& port) noexcept {
        port.busy.store(port.busy.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

private:
    QpPort* port_;
};

} // namespace odrc::soft
