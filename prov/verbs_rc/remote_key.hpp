// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace odrc::verbs {

// The key of a region as peers get it (fi_mr_key(3)): the device's rkey in the lower half, above it
// whether the device may be asked to change the region's words by itself, and above that the rkey
// on soft0, for peers of this host, if the region has one: soft0's have 24 bits.
class RemoteKey {
public:
    static RemoteKey of(uint32_t rkey, bool atomics, uint32_t soft_rkey) noexcept {
        return RemoteKey{rkey | (atomics ? kAtomics : 0) | uint64_t{soft_rkey} << kSoftShift};
    }
    explicit RemoteKey(uint64_t bits) noexcept
        : bits_{bits} {}

    uint64_t bits() const noexcept { return bits_; }
    // Whether any region could have it.
    bool possible() const noexcept { return bits_ >> kSoftShift <= kMostSoft; }
    uint32_t rkey() const noexcept { return static_cast<uint32_t>(bits_); }
    uint32_t soft_rkey() const noexcept { return static_cast<uint32_t>(bits_ >> kSoftShift); }
    bool atomics() const noexcept { return bits_ & kAtomics; }

private:
    static constexpr uint64_t kAtomics = uint64_t{1} << 32;
    static constexpr unsigned kSoftShift = 33;
    static constexpr uint64_t kMostSoft = 0xffffff;

    uint64_t bits_;
};

} // namespace odrc::verbs
