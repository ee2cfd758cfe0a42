// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/copy.hpp"

#include "softrc/errand.hpp"
#include "softrc/joint_copy.hpp"
#include "softrc/private_copy.hpp"

#include <algorithm>
#include <fstream>
#include <sys/prctl.h>

namespace odrc::soft {

int copy_pieces(Process& process, PeerProcess& peer, Direction direction,
                std::span<const iovec> local, std::span<const Place> places) noexcept {
    if (local.size() == 1 && places.size() == 1 && !places[0].mapped && peer.lets_us_in()) {
        const size_t length = std::min(local[0].iov_len, places[0].length);
        if (length >= kLeastJoint)
            return copy_jointly(process, peer, direction,
                                static_cast<std::byte*>(local[0].iov_base), places[0], length);
    }
    PrivateCopy batch{peer, direction};
    size_t in_local = 0, in_place = 0; // done of the first of each
    while (!local.empty() && !places.empty()) {
        const Place& place = places.front();
        const size_t n = std::min(local.front().iov_len - in_local, place.length - in_place);
        auto* here = static_cast<std::byte*>(local.front().iov_base) + in_local;
        if (n > 0) {
            if (!place.mapped && !peer.lets_us_in()) {
                if (const int error =
                        run_errand(process, peer, direction, here, place, in_place, n))
                    return error;
            } else if (!place.mapped) {
                if (!batch.has_room())
                    if (const int error = batch.flush()) return error;
                batch.add(here, place.address + in_place, n);
            } else if (direction == Direction::to_peer) {
                copy_to_peer(peer, place, place.mapped + in_place, here, n);
            } else {
                copy_bytes(here, place.mapped + in_place, n);
            }
        }
        in_local += n;
        in_place += n;
        if (in_local == local.front().iov_len) {
            local = local.subspan(1);
            in_local = 0;
        }
        if (in_place == place.length) {
            places = places.subspan(1);
            in_place = 0;
        }
    }
    return batch.flush();
}

void open_private_memory() noexcept {
    // Where Yama lets only a parent in (ptrace_scope 1), a process may open itself to the others
    // of its user.
    int scope = 0;
    std::ifstream{"/proc/sys/kernel/yama/ptrace_scope"} >> scope;
    if (scope == 1) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

} // namespace odrc::soft
