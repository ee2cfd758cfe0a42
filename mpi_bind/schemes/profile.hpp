// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/choice.hpp"
#include "schemes/shape.hpp"

#include <map>
#include <optional>
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
    // One that was not offered; why is a literal.
    void count_as_it_is(const Data& receiver, uint64_t bytes, const char* why) {
        if (!path_.empty()) count_alike(shape_of(receiver), bytes, why);
    }
    // One line for messages of about the same size, in pieces of about the same size on both sides,
    // that went alike.
    void report(int rank) const noexcept;

private:
    // The powers of two below: of bytes, and of what a piece has on either side.
    using Alike = std::tuple<std::optional<Scheme>, size_t, int, int, int>; // no scheme: as it is
    struct Decision {
        uint64_t messages{0};
        uint64_t bytes{0};
        Shape receiver{}; // of the last one; likewise what follows
        Shape sender{};
        std::array<double, kSchemes> expected{};
        const char* why{}; // it was not offered
    };

    void count_alike(const Offer& offer, const Shape& receiver, uint64_t bytes, const Plan& plan);
    void count_alike(const Shape& receiver, uint64_t bytes, const char* why);
    Decision& count(const Alike& alike, const Shape& receiver, uint64_t bytes);

    std::string path_; // empty: nobody wants to know
    std::map<Alike, Decision> decisions_;
};

} // namespace odrc::mpi
