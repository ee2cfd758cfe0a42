// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/copy_to_peer.hpp"
#include "softrc/regions.hpp"

#include <span>
#include <sys/uio.h>

namespace odrc::soft {

class Process;

enum class Direction { to_peer, from_peer };

// Moves bytes between this process's memory and places of the peer's, filling one after the
// other, until the shorter of the two lists is used up. Memory that is mapped here is copied by
// this processor; private memory of the peer by process_vm_writev(2) or readv or, where the kernel
// forbids that, by the peer's agent. Gives 0, EFAULT where the memory is not there, or ESRCH when
// the peer has died.
int copy_pieces(Process& process, PeerProcess& peer, Direction direction,
                std::span<const iovec> local, std::span<const Place> places) noexcept;

// The same, without a call for what most small messages are: one piece for one place, both mapped.
inline int copy(Process& process, PeerProcess& peer, Direction direction,
                std::span<const iovec> local, std::span<const Place> places) noexcept {
    if (local.size() != 1 || places.size() != 1 || !places[0].mapped ||
        local[0].iov_len > places[0].length)
        return copy_pieces(process, peer, direction, local, places);
    const iovec& v = local[0];
    if (direction == Direction::to_peer)
        copy_to_peer(peer, places[0], places[0].mapped, v.iov_base, v.iov_len);
    else
        copy_bytes(v.iov_base, places[0].mapped, v.iov_len);
    return 0;
}

// Lets the other processes of this user reach this one's memory where that takes permission.
void open_private_memory() noexcept;

} // namespace odrc::soft
