// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace fabtests_ext {

class Stopwatch {
public:
    double nanoseconds() const {
        return std::chrono::duration<double, std::nano>(Clock::now() - begin_).count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_{Clock::now()};
};

// One figure, measured in batches: another program's turn on a processor spoils a batch, not the
// median.
class Samples {
public:
    void add(double value) { values_.insert(std::ranges::upper_bound(values_, value), value); }

    // The line that bench/intranode reads: name, median, unit, least, most.
    void report(const std::string& name, const char* unit) const {
        std::printf("%-26s %10.4g %-5s (%.4g .. %.4g)\n", name.c_str(), values_[values_.size() / 2],
                    unit, values_.front(), values_.back());
        std::fflush(stdout);
    }

private:
    std::vector<double> values_;
};

} // namespace fabtests_ext
