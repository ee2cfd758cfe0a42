// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "differences.hpp"

#include "device.hpp"

#include <algorithm>
#include <vector>

namespace rig {
namespace {

std::vector<const Difference*> met;

} // namespace

bool differs(Differs where) {
    for (const Difference& d : kDifferences) {
        if (d.where != where || !device().name.starts_with(d.driver)) continue;
        if (std::find(met.begin(), met.end(), &d) == met.end()) met.push_back(&d);
        return true;
    }
    return false;
}

std::span<const Difference* const> differences_met() { return met; }

} // namespace rig
