// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A program that is several processes: forked from one, on one host, with an exchange of bytes
// among them before there is a fabric to do it.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fabtests_ext {

class Team {
public:
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    // Returns when all have come.
    void barrier();

    // Everybody's bytes (at most 64 of each), by rank.
    std::vector<std::string> exchange(const std::string& mine);

    // Everybody's number, by rank.
    std::vector<unsigned long long> numbers(unsigned long long mine);

    // Adds up a number over all.
    unsigned long long sum(unsigned long long mine);

private:
    friend int run_team(int, const std::function<int(Team&)>&);
    struct Shared;
    Shared* shared_{nullptr};
    int rank_{0};
    int size_{1};
};

// Runs body in that many processes. Gives 0 if it gave 0 in all of them; else says which failed,
// and ends the others, which may be waiting for it.
int run_team(int size, const std::function<int(Team&)>& body);

} // namespace fabtests_ext
