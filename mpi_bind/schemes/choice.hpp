// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/costs.hpp"

#include <array>

namespace odrc::mpi {

// How one message goes, and what each scheme is expected to take.
struct Plan {
    Scheme scheme;
    size_t segment;                        // bytes
    size_t room;                           // segments at a time
    bool whole;                            // unpacked at the end
    bool single;                           // writes are not posted as lists
    std::array<double, kSchemes> expected; // nanoseconds, by Scheme; infinite: it cannot be taken
};

// What there is for a message.
struct Means {
    bool unpacks;  // memory for segments at the receiver
    bool exposes;  // data of the receiver's that can be written to
    bool overlaps; // processors enough for both sides to work at the same time
};

// Of so many bytes, which both sides have in pieces.
Plan choose_scheme(const SchemeCosts& costs, const Offer& offer, const Shape& receiver,
                   uint64_t bytes, const Means& means, const WantedScheme& wanted) noexcept;

} // namespace odrc::mpi
