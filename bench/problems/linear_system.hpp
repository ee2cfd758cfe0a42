// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Linear equations that Jacobi's iteration solves.

#include "fabtests_ext/support/content.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench {

inline constexpr double kPrecision = 1e-9;

// With a diagonal that outweighs the rest of its row, but not by much.
class LinearSystem {
public:
    LinearSystem(size_t size, uint64_t seed)
        : size_{size}
        , matrix_(size * size)
        , right_(size) {
        for (size_t i = 0; i < matrix_.size(); ++i) matrix_[i] = number(seed + i);
        for (size_t i = 0; i < size; ++i) {
            matrix_[i * size + i] = 0.6 * double(size);
            right_[i] = number(~(seed + i));
        }
    }

    size_t size() const noexcept { return size_; }

    // Unknown i of the next vector.
    double improve(const std::vector<double>& x, size_t i) const noexcept {
        const double* row = &matrix_[i * size_];
        double sum = right_[i];
        for (size_t j = 0; j < size_; ++j) sum -= row[j] * x[j];
        return x[i] + sum / row[i];
    }

private:
    // From 0 to 1.
    static double number(uint64_t id) noexcept {
        return double(fabtests_ext::scramble(id) >> 11) * 0x1p-53;
    }

    size_t size_;
    std::vector<double> matrix_, right_;
};

struct Solution {
    std::vector<double> x;
    uint64_t iterations{0};
    bool operator==(const Solution&) const = default;
};

inline Solution solve_alone(const LinearSystem& system) {
    Solution solution{std::vector<double>(system.size())};
    for (double change = 1; change > kPrecision; ++solution.iterations) {
        std::vector<double> next(system.size());
        change = 0;
        for (size_t i = 0; i < next.size(); ++i) {
            next[i] = system.improve(solution.x, i);
            change = std::max(change, std::abs(next[i] - solution.x[i]));
        }
        solution.x = std::move(next);
    }
    return solution;
}

} // namespace bench
