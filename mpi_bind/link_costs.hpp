// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <array>
#include <cstddef>

namespace odrc::mpi {

class Communicator;

// What messages take, in seconds, after LogP with parameters for each size (Kielmann et al. 2000):
// what is short and what is long goes in different ways, so that no G counts for both.
class LinkCosts {
public:
    static constexpr std::array<size_t, 5> kSizes{8, 8 << 10, 32 << 10, 128 << 10, 1 << 20};
    struct Cost {
        double hop;  // L + os + or: from the call that sends it to the end of the one that receives
        double send; // g: from one message to the next
    };

    std::array<Cost, kSizes.size()> at{};
    // Processes of a host for each of its processors: these take turns, if they are more than one.
    double crowding{1};

    double hop(size_t bytes) const noexcept { return between(bytes, &Cost::hop); }
    double send(size_t bytes) const noexcept { return between(bytes, &Cost::send); }

private:
    double between(size_t bytes, double Cost::*what) const noexcept;
};

// Measured between the first two members, and then known to all, who call this at once: those of a
// communicator have to agree on what they make of it. Takes some hundred messages.
LinkCosts measure_link(Communicator& communicator);

} // namespace odrc::mpi
