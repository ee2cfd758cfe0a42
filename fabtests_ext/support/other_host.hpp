// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A team can be on two hosts, half of it on each. What the halves say to each other goes over one
// TCP connection.

#include <span>
#include <string>

namespace fabtests_ext {

// Which half this is, and where the other one is. Without either there is none.
struct Halves {
    bool listens{false};
    std::string connects_to;

    bool two() const noexcept { return listens || !connects_to.empty(); }
};

class OtherHost {
public:
    // Returns when both have come.
    explicit OtherHost(const Halves& halves);
    ~OtherHost();
    OtherHost(const OtherHost&) = delete;
    OtherHost& operator=(const OtherHost&) = delete;

    // Gives what we have for what they have, as many bytes. One caller at a time on each side.
    void swap(std::span<const std::byte> ours, std::span<std::byte> theirs);

private:
    int fd_;
};

} // namespace fabtests_ext
