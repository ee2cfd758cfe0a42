// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Optimistic group registration (Wu, Wyckoff and Panda, 2003): memory in many pieces is registered
// as few regions, each with what lies between its pieces, where that is little. Whether there is
// memory between them at all nobody asks: it is registered as if there were, and only where the
// device refuses that is the group cut in two, until its parts are memory.

#include "verbs_rc/adapter.hpp"

#include <span>
#include <sys/uio.h>

namespace odrc::verbs {

// In a list.
inline constexpr size_t kMostPieces = 32;

// What a registration takes, and its end, is the time of a call and more for each page. So many
// bytes of whole pages between two pieces are registered rather than call once more. How much a
// page takes depends less on the device than on whether it has ever been touched, which cannot be
// seen before: a soft-RoCE device in an emulated machine takes as long for a call as for 190 pages
// that are there, but for no more than 3 or 4 that the kernel has yet to make. This is 16 pages of
// 4 KiB, in between. It also bounds what is pinned for nothing.
inline constexpr size_t kWorthOneCall = size_t{64} << 10;

struct Piece {
    Range memory;
    uint32_t index; // in its list
};

// How many of these pieces, in the order of their addresses, become the first region. Pieces whose
// pages adjoin always are one.
size_t first_group(std::span<const Piece> sorted) noexcept;

// See register_list().
int register_groups(Adapter& adapter, std::span<const iovec> list, size_t bytes, int access,
                    RegistrationCache::Moment handed_over, std::span<Registration> keys) noexcept;

// Registers the first bytes of the memory in a list, up to kMostPieces, as
// Adapter::register_memory does for one piece. What has a key keeps that, unless the device has one
// for all memory: then it may be another device's. Of the pieces of a region one has the
// registration, and the others no more than its key: they are all given back together. If it fails,
// nothing is registered.
inline int register_list(Adapter& adapter, std::span<const iovec> list, size_t bytes, int access,
                         RegistrationCache::Moment handed_over,
                         std::span<Registration> keys) noexcept {
    const bool any_memory = adapter.whole_memory_key().has_value();
    if (list.size() > 1 && !any_memory)
        return register_groups(adapter, list, bytes, access, handed_over, keys);
    for (size_t i = 0; i < list.size() && bytes > 0; ++i) {
        const size_t n = std::min(bytes, list[i].iov_len);
        bytes -= n;
        if (keys[i].lkey() != 0 && !any_memory) continue;
        if (const int error =
                adapter.register_memory(list[i].iov_base, n, access, handed_over, keys[i]))
            return error;
    }
    return 0;
}

} // namespace odrc::verbs
