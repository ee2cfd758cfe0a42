// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/scheme.hpp"

#include <string>

namespace odrc::mpi {

class Info;

// MPI 6.4.4: what a program asks of a communicator. Hints that are not known, or have values that
// nobody understands, are as if they had not been given.
class Hints {
public:
    void take(const Info& info);
    // Those that are heeded.
    void tell(Info& info) const;

    // odrc_datatype: how long data in pieces goes; without it, as the environment says.
    const WantedScheme& scheme() const noexcept { return scheme_; }

private:
    WantedScheme scheme_{wanted_scheme()};
    std::string scheme_text_; // as it was said
};

} // namespace odrc::mpi
