// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/peer_process.hpp"
#include "softrc/regions.hpp"

#include <optional>

namespace odrc::soft {

class Process;

// What an atomic operation makes of the word that it finds (IBTA 1.4, 9.4.5).
struct Change {
    bool compares; // and swaps; otherwise it adds
    uint64_t operand, compared;

    uint64_t result(uint64_t found) const noexcept {
        if (!compares) return found + operand;
        return found == compared ? operand : found;
    }
};

// Changes a word of this process's private memory, and gives what was there.
uint64_t change_own(Process& process, const Place& place, const Change& change) noexcept;

// Has the peer change a word of its private memory, which takes a fraction of what reading and
// writing it from here does, if it polls just now and has nothing else to do. Gives 0 or an errno
// as copy_pieces() does, or nothing if it has not been done.
std::optional<int> ask_for_atomic(Process& process, PeerProcess& peer, const Change& change,
                                  const Place& place, uint64_t& found) noexcept;

// Does what a sender asks for, if one does. Trusts none of them: the key is looked up again.
void serve_atomic(Process& process) noexcept;

// A sender that has died asks for no more.
void forget_atomic(Process& process) noexcept;

} // namespace odrc::soft
