// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/region_table.hpp"

#include <doctest/doctest.h>
#include <infiniband/verbs.h>
#include <optional>

using odrc::verbs::RegionTable;

TEST_CASE("a key allows what its region covers, and no byte beside it") {
    RegionTable table;
    const RegionTable::Entry entry{table, 7, {1000, 100, IBV_ACCESS_REMOTE_READ}};
    const auto hold = table.hold();
    constexpr int kRead = IBV_ACCESS_REMOTE_READ;
    CHECK(table.allows(7, 1000, 100, kRead));
    CHECK(table.allows(7, 1099, 1, kRead));
    CHECK(table.allows(7, 1100, 0, kRead));
    CHECK_FALSE(table.allows(7, 999, 1, kRead));
    CHECK_FALSE(table.allows(7, 1001, 100, kRead));
    CHECK_FALSE(table.allows(7, 1101, 0, kRead));
    CHECK_FALSE(table.allows(7, 1000, UINT64_MAX, kRead)); // no sum wraps around
    CHECK_FALSE(table.allows(7, UINT64_MAX, 8, kRead));
    CHECK_FALSE(table.allows(7, 1000, 1, IBV_ACCESS_REMOTE_WRITE));
    CHECK_FALSE(table.allows(7, 1000, 1, kRead | IBV_ACCESS_REMOTE_WRITE));
    CHECK_FALSE(table.allows(8, 1000, 1, kRead));
}

TEST_CASE("a key is worth nothing once its region is gone, and may come back for another") {
    RegionTable table;
    std::optional<RegionTable::Entry> entry;
    entry.emplace(table, 7, RegionTable::Region{1000, 100, IBV_ACCESS_REMOTE_READ});
    entry.reset();
    CHECK_FALSE(table.allows(7, 1000, 1, 0));
    entry.emplace(table, 7, RegionTable::Region{5000, 10, IBV_ACCESS_REMOTE_READ});
    CHECK_FALSE(table.allows(7, 1000, 1, 0));
    CHECK(table.allows(7, 5000, 10, IBV_ACCESS_REMOTE_READ));
}
