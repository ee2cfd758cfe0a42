// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
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
        std::printf("%-26s %10.4g %-5s (%.4g .. %.4g)\n", name.c_str(), median(), unit,
                    values_.front(), values_.back());
        std::fflush(stdout);
    }

    double median() const { return values_[values_.size() / 2]; }

    // Between which the median of all that could be measured lies, in 19 cases of 20.
    std::pair<double, double> confidence() const {
        const auto n = static_cast<double>(values_.size());
        const auto half = static_cast<size_t>(std::min(std::sqrt(n), (n - 1) / 2));
        const size_t middle = values_.size() / 2;
        return {values_[middle - half], values_[std::min(middle + half, values_.size() - 1)]};
    }

private:
    std::vector<double> values_;
};

} // namespace fabtests_ext
