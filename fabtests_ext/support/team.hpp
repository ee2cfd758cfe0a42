// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A program that is several processes: forked from one, with an exchange of bytes among them before
// there is a fabric to do it. Where it is started on two hosts, each has half of them.

#include "other_host.hpp"

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

    // Returns when all have come. What others may still need of us is done meanwhile.
    void barrier(const std::function<void()>& meanwhile = {});

    // Everybody's bytes (at most 64 of each), by rank.
    std::vector<std::string> exchange(const std::string& mine);

    // Everybody's number, by rank.
    std::vector<unsigned long long> numbers(unsigned long long mine);

    // Adds up a number over all.
    unsigned long long sum(unsigned long long mine);

private:
    friend int run_team(int, const std::function<int(Team&)>&, const Halves&);
    struct Shared;

    void swap_with_other_host();

    Shared* shared_{nullptr};
    OtherHost* other_{nullptr};
    int rank_{0};
    int size_{1};
    int first_{0}; // of this host
    int here_{1};  // how many
};

// Runs body in that many processes, each of which finds its rank and their number in its
// environment, as PMI has it. Gives 0 if it gave 0 in all of this host; else says which failed,
// and ends the others, which may be waiting for it.
int run_team(int size, const std::function<int(Team&)>& body, const Halves& halves = {});

} // namespace fabtests_ext
