// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/copy_to_peer.hpp"

#include "base/copy_past_caches.hpp"

namespace odrc::soft {

void copy_much_to_peer(PeerProcess& peer, const Place& place, std::byte* to, const std::byte* from,
                       size_t length) noexcept {
    if (peer.own()) return copy_bytes(to, from, length);
    if (peer.may_have_new_pages()) find_pages(to, length);
    const bool written = place.access & IBV_ACCESS_REMOTE_WRITE;
    Nearness& nearness = written ? peer.nearness_of_writes() : peer.nearness_of_receives();
    if (nearness.is_near()) return nearness.watch(length, [&] { copy_bytes(to, from, length); });
    constexpr size_t kLastWords = 2 * sizeof(uint64_t); // of which the last one is seen last
    const size_t before = length - kLastWords;
    copy_past_caches(to, from, before);
    copy_bytes(to + before, from + before, kLastWords);
}

} // namespace odrc::soft
