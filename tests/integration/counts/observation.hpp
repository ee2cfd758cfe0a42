// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/shared.hpp"

#include <cstdint>
#include <functional>

namespace counts {

// What a thread does besides computing, while it is observed. Read and written by the process that
// looks on, too (trace()), while the thread stands still.
struct Observation {
    bool on{false};
    uint64_t allocations{0}; // calls of malloc(3) and its kin, free(3) among them
    uint64_t system_calls{0};
    uint64_t first_system_call{0}; // its number
    uint64_t work_requests{0};     // posted to send queues
    uint64_t doorbells{0};         // calls that posted them
    uint64_t direct_writes{0};     // that the thread made itself, into memory of a peer's
    uint64_t wire_bytes{0};        // that all of these move, headers among them
    uint64_t receive_requests{0};  // posted to receive queues
    uint64_t receive_doorbells{0};
};

// Runs body in a process of its own, and counts the system calls of the thread that runs it while
// the observation is on. Gives what body gave. Throws std::system_error where the kernel does not
// allow it.
int trace(Observation& observation, const std::function<int()>& body);

// From now on the observation is of this thread's allocations, too.
void count_allocations_in(Observation& observation);

// Says whether allocations and system calls of this thread would be seen.
bool sees(Observation& observation);

// The thread is observed for a scope; or for once it is not.
class Observed {
public:
    explicit Observed(Observation& observation, bool on = true) noexcept
        : observation_{observation}
        , before_{observation.on} {
        set(on);
    }
    ~Observed() { set(before_); }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

private:
    // The kernel is asked nothing before this is in memory, nor after it is changed back.
    void set(bool on) noexcept { *static_cast<volatile bool*>(&observation_.on) = on; }

    Observation& observation_;
    const bool before_;
};

} // namespace counts
