// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "samples.hpp"
#include "team.hpp"

namespace fabtests_ext {

// Batches of a figure, as many as were asked for, but no other one after so many seconds: a slow
// provider is measured less often, not for longer. All processes of a team do the same number.
class Batches {
public:
    Batches(Team& team, int most, double seconds)
        : team_{team}
        , left_{most}
        , nanoseconds_{seconds * 1e9} {}

    // Whether there is another one, of which the first is always.
    bool next() {
        const bool late = begun_++ > 0 && watch_.nanoseconds() > nanoseconds_;
        return left_-- > 0 && team_.sum(late) == 0;
    }

private:
    Team& team_;
    int left_;
    int begun_{0};
    const double nanoseconds_;
    const Stopwatch watch_;
};

} // namespace fabtests_ext
