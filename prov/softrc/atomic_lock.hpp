// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/node.hpp"

#include <sched.h>

namespace odrc::soft {

// Held while eight bytes of a process's private memory are changed atomically: no processor
// instruction reaches them from another process. The lock of a holder that died is taken over.
class AtomicLock {
public:
    AtomicLock(const NodeMember& node, Arena& arena, uint64_t address) noexcept
        : lock_{arena.atomic_locks[address / sizeof(uint64_t) % kAtomicLocks]} {
        const uint64_t me = node.identity() | 1;
        for (uint32_t spins = 1;; ++spins) {
            uint64_t holder = 0;
            if (lock_.compare_exchange_strong(holder, me, std::memory_order_acquire)) return;
            constexpr uint32_t kSpinsPerLook = 10'000;
            if (spins % kSpinsPerLook == 0 && !node.alive(holder) &&
                lock_.compare_exchange_strong(holder, me, std::memory_order_acquire))
                return;
            sched_yield();
        }
    }
    ~AtomicLock() { lock_.store(0, std::memory_order_release); }
    AtomicLock(const AtomicLock&) = delete;
    AtomicLock& operator=(const AtomicLock&) = delete;

private:
    std::atomic<uint64_t>& lock_;
};

} // namespace odrc::soft
