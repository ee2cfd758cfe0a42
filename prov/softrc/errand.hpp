// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/copy.hpp"

namespace odrc::soft {

// Moves bytes into or out of private memory of the peer by its agent's hand, a piece at a time.
// Gives 0, ESRCH when the peer has died, or why the agent would not.
int run_errand(Process& process, PeerProcess& peer, Direction direction, std::byte* local,
               const Place& place, size_t offset, size_t length) noexcept;

// Carries out what is posted to this process: the agent's work, and of whoever waits for another's.
// Trusts no sender: the keys are looked up again.
void serve_errands(const ArenaView& arena) noexcept;

} // namespace odrc::soft
