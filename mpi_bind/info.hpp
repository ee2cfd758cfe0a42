// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "handle.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace odrc::mpi {

// MPI 9: what a program lets a library know, in the order in which it was first said.
class Info {
public:
    struct Pair {
        std::string key, value;
    };

    static Info* of(MPI_Info handle) noexcept { // null: there is none
        return number_of(handle) < kFirstAddress ? nullptr : reinterpret_cast<Info*>(handle);
    }
    MPI_Info handle() noexcept { return reinterpret_cast<MPI_Info>(this); }

    const std::vector<Pair>& pairs() const noexcept { return pairs_; }
    const std::string* find(std::string_view key) const noexcept; // its value; null: there is none
    void set(std::string_view key, std::string_view value);
    bool remove(std::string_view key) noexcept; // false: there is none

private:
    std::vector<Pair> pairs_;
};

} // namespace odrc::mpi
