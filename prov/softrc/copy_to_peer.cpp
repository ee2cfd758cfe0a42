// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/copy_to_peer.hpp"

#include "base/copy_past_caches.hpp"
#include "base/ticks.hpp"

namespace odrc::soft {
namespace {

// Fewer bytes in a nanosecond, and each line was fetched from a cache that this processor does not
// share: that is two to five times as slow as to have the peer read all of it from memory.
constexpr size_t kLeastBytes = 5;
constexpr size_t kLastWords = 2 * sizeof(uint64_t); // of which the last one is seen last

bool is_slow(Ticks took, size_t length) noexcept {
    return static_cast<size_t>(time_of(took).count()) * kLeastBytes > length;
}

} // namespace

void copy_much_to_peer(PeerProcess& peer, std::byte* to, const std::byte* from,
                       size_t length) noexcept {
    if (peer.own()) return copy_bytes(to, from, length);
    if (!peer.caching().is_worth_it()) {
        const size_t before = length - kLastWords;
        copy_past_caches(to, from, before);
        return copy_bytes(to + before, from + before, kLastWords);
    }
    const Ticks begun = ticks_now();
    copy_bytes(to, from, length);
    is_slow(ticks_now() - begun, length) ? peer.caching().went_badly() : peer.caching().went_well();
}

} // namespace odrc::soft
