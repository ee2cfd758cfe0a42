// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/copy_bytes.hpp"
#include "softrc/peer_process.hpp"
#include "softrc/regions.hpp"

namespace odrc::soft {

// From so many bytes on it matters how far the peer's caches are.
inline constexpr size_t kLeastPastCaches = 2048;

// Before the first copies to a peer: of its pages the kernel finds one at a time for who writes
// there, and all of the sixteen around that there are for who reads.
inline void find_pages(const std::byte* first, size_t length) noexcept {
    constexpr size_t kPage = 4096;
    for (size_t at = 0; at < length; at += kPage)
        [[maybe_unused]] const auto found = *static_cast<const volatile std::byte*>(first + at);
}

void copy_much_to_peer(PeerProcess& peer, const Place& place, std::byte* to, const std::byte* from,
                       size_t length) noexcept;

// As copy_bytes(), to somewhere in a place of a peer's that is mapped here. What is long goes past
// the caches of a peer that has shown to be far: now and then it is tried whether it still is.
// (Rings are written without: the same lines come and go there.)
inline void copy_to_peer(PeerProcess& peer, const Place& place, std::byte* to, const void* from,
                         size_t length) noexcept {
    if (length < kLeastPastCaches) [[likely]]
        return copy_bytes(to, from, length);
    copy_much_to_peer(peer, place, to, static_cast<const std::byte*>(from), length);
}

} // namespace odrc::soft
