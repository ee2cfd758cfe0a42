// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <bitset>
#include <cstddef>
#include <optional>

namespace odrc::mpi {

// Which of the equal parts of some memory are taken. Found are the first ones that are free, which
// were last used: a processor still has them in its cache.
template <size_t count>
class Granules {
public:
    // The first of so many, one behind the other.
    std::optional<size_t> take(size_t wanted) noexcept {
        size_t first = least_free_;
        for (size_t i = first; i < count; ++i) {
            if (taken_[i]) first = i + 1;
            if (i + 1 - first < wanted) continue;
            for (size_t g = first; g <= i; ++g) taken_.set(g);
            if (first == least_free_) least_free_ = i + 1;
            return first;
        }
        return std::nullopt;
    }
    void give_back(size_t first, size_t wanted) noexcept {
        for (size_t g = first; g < first + wanted; ++g) taken_.reset(g);
        if (first < least_free_) least_free_ = first;
    }

private:
    std::bitset<count> taken_;
    size_t least_free_{0}; // all before it are taken
};

} // namespace odrc::mpi
