// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/costs.hpp"
#include "schemes/expected.hpp"

namespace odrc::mpi {

// How one message goes, and what each scheme is expected to take.
struct Plan {
    Scheme scheme;
    size_t segment; // bytes
    size_t room;    // segments at a time
    bool whole;     // unpacked at the end
    bool single;    // writes are not posted as lists
    Expected expected;
};

// What there is for a message.
struct Means {
    bool unpacks;  // memory for segments at the receiver
    bool exposes;  // data of the receiver's that can be written to
    bool overlaps; // processors enough for both sides to work at the same time
    bool caches;   // enough for all data that is under way
    bool near;     // those that hold it are not far from who copies it
};

// How a message of so many bytes, which both sides have in pieces, may go.
class Choice {
public:
    Choice(const SchemeCosts& costs, const Offer& offer, const Shape& receiver, uint64_t bytes,
           const Means& means, const WantedScheme& wanted) noexcept;

    // The one that was asked for, or generic, where that cannot be.
    std::optional<Scheme> asked_for() const noexcept;
    Expected& expected() noexcept { return expected_; }
    // What the message would be expected to take if it had not been offered: nanoseconds.
    double not_offered() const noexcept;
    // How much less Generic takes if it need not be asked for.
    double spared() const noexcept { return spared_; }
    Plan plan(Scheme scheme) const noexcept;

private:
    const uint64_t bytes_;
    const WantedScheme& wanted_;
    const double word_;
    const double spared_;
    const size_t asked_for_;
    std::array<size_t, kSchemes> segments_{}; // with which each is quickest
    Expected expected_;
};

} // namespace odrc::mpi
