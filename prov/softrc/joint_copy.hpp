// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/copy.hpp"

namespace odrc::soft {

// From so many bytes on a copy takes longer than to have the peer join it.
inline constexpr size_t kLeastJoint = size_t{32} << 10;

// Moves bytes between this process's memory and private memory of a peer that lets us in, which
// joins if it polls meanwhile and has nothing else to do: two processors copy twice as much as one.
// Gives 0 or an errno as copy_pieces() does.
int copy_jointly(Process& process, PeerProcess& peer, Direction direction, std::byte* here,
                 const Place& place, size_t length) noexcept;

// Does a little of what senders have open. Trusts none of them: keys are looked up again.
void join_copies(Process& process) noexcept;

// Senders that have died take part no more.
void forget_joint_copies(Process& process) noexcept;

} // namespace odrc::soft
