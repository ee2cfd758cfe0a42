// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/choice.hpp"

#include <map>
#include <string>
#include <tuple>

namespace odrc::mpi {

// What was decided for the messages that a process has received, and why (ODRC_MPI_PROFILE).
class SchemeProfile {
public:
    SchemeProfile();

    void count(const Offer& offer, const Shape& receiver, uint64_t bytes, const Plan& plan) {
        if (!path_.empty()) count_alike(offer, receiver, bytes, plan);
    }
    // One line for messages of about the same size, in pieces of about the same size on both sides,
    // that went alike.
    void report(int rank) const noexcept;

private:
    // The powers of two below: of bytes, and of what a piece has on either side.
    using Alike = std::tuple<Scheme, size_t, int, int, int>;
    struct Decision {
        uint64_t messages{0};
        uint64_t bytes{0};
        Shape sender{}; // of the last one; likewise what follows
        Shape receiver{};
        std::array<double, kSchemes> expected{};
    };

    void count_alike(const Offer& offer, const Shape& receiver, uint64_t bytes, const Plan& plan);

    std::string path_; // empty: nobody wants to know
    std::map<Alike, Decision> decisions_;
};

} // namespace odrc::mpi
