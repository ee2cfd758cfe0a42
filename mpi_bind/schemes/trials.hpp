// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/records.hpp"

#include <optional>

namespace odrc::mpi {

// Which way of moving messages that are alike is tried, and when again: each that is not hopeless
// some times, the most promising one first; and then, ever more seldom, those that are not much
// slower than the quickest, since what was found may have had other reasons.
class Trials {
public:
    // Where a message goes alone, or many at once.
    enum class Of : bool { one_alone, many_at_once };
    explicit Trials(Of of) noexcept
        : is_of_many_{of == Of::many_at_once} {}

    struct Trial {
        Scheme way;
        bool is_first;
    };
    // Before each burst; none: the quickest is to be taken.
    // hoped: of each way before anything was known of it; known: and now.
    std::optional<Trial> next(const Expected& hoped, const Expected& known,
                              const Records& records) noexcept;
    // So many bursts begin without having been asked about here.
    void pass(uint32_t bursts) noexcept { since_ += bursts; }

private:
    std::optional<size_t> first_times(const Expected& hoped, const Expected& known) const noexcept;
    bool is_due(Scheme best, double takes) noexcept;
    std::optional<size_t> again(const Expected& hoped, const Expected& known) noexcept;

    bool is_of_many_;
    std::array<uint32_t, kSchemes> times_{}; // that each has been tried
    // What is tried before all others finds nothing in caches, and makes the pages: it has a second
    // trial, however it does.
    size_t begun_with_{kSchemes};
    size_t turns_{0};      // that have been taken, of all ways one after the other
    uint32_t since_{0};    // bursts since the last one
    Scheme best_{};        // when it changed last, and
    double best_takes_{0}; // of a byte
};

} // namespace odrc::mpi
