// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "observation.hpp"

#include <string>
#include <vector>

namespace counts {

struct Settings {
    std::vector<std::string> operations; // empty: all
    int times{0};                        // 0: as often as each takes for a mean
    bool observe{false};
    bool traced{true};

    bool wants(const char* operation) const noexcept;
};

// Counts what operations take besides computing; or does them so that somebody else can count the
// instructions of their steps (bench/instructions).
class Measurement {
public:
    // Runs body, in a process of its own if it is observed. Gives what body gave, or 77 where
    // nobody may look on. posts: that they are counted (count_posts_in()).
    static int run(const Settings& settings, bool posts,
                   const std::function<int(Measurement&)>& body);

    Observation& observation() noexcept { return observation_; }

    // So many times, and as many before that, in which what is made once is made. Prints the mean.
    void measure(const char* operation, int times, const std::function<void()>& once);

private:
    Measurement(const Settings& settings, bool posts, Observation& observation);

    void repeat(int times, const std::function<void()>& once);
    void observe(const char* operation, int times, const std::function<void()>& once);
    void empty_cache() const noexcept;

    const Settings& settings_;
    const bool posts_;
    Observation& observation_;
    std::vector<char> cache_;
};

} // namespace counts
