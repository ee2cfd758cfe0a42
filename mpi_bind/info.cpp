// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "info.hpp"

#include <algorithm>

namespace odrc::mpi {

const std::string* Info::find(std::string_view key) const noexcept {
    const auto found = std::ranges::find(pairs_, key, &Pair::key);
    return found == pairs_.end() ? nullptr : &found->value;
}

void Info::set(std::string_view key, std::string_view value) {
    const auto found = std::ranges::find(pairs_, key, &Pair::key);
    if (found == pairs_.end())
        pairs_.push_back({std::string{key}, std::string{value}});
    else
        found->value = value;
}

bool Info::remove(std::string_view key) noexcept {
    return std::erase_if(pairs_, [&](const Pair& pair) { return pair.key == key; }) > 0;
}

} // namespace odrc::mpi
