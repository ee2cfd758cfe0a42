// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/region_tallies.hpp"

namespace odrc::transfer {

void RegionTallies::set(uint32_t key, const Pair& pair) {
    const std::lock_guard guard{mutex_};
    regions_[key] = pair;
}

void RegionTallies::forget(uint32_t key) noexcept {
    const std::lock_guard guard{mutex_};
    regions_.erase(key);
}

void RegionTallies::count(uint32_t key, Access access) noexcept {
    const std::lock_guard guard{mutex_};
    const auto region = regions_.find(key);
    if (region == regions_.end()) return;
    Tally* const read = access.read ? region->second.read : nullptr;
    Tally* const written = access.written ? region->second.written : nullptr;
    if (written) written->count(0);
    if (read && read != written) read->count(0);
}

} // namespace odrc::transfer
