// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/region_table.hpp"

namespace odrc::verbs {

RegionTable::Entry::Entry(RegionTable& table, uint32_t key, const Region& region)
    : table_{table}
    , key_{key} {
    const std::lock_guard guard{table_.mutex_};
    table_.regions_.insert_or_assign(key, region);
}

RegionTable::Entry::~Entry() {
    const std::lock_guard guard{table_.mutex_};
    table_.regions_.erase(key_);
}

bool RegionTable::allows(uint32_t key, uint64_t address, uint64_t length,
                         int access) const noexcept {
    const auto found = regions_.find(key);
    if (found == regions_.end()) return false;
    const Region& region = found->second;
    return !(access & ~region.access) && length <= region.length && address >= region.address &&
           address - region.address <= region.length - length;
}

} // namespace odrc::verbs
