// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// The tree of Barnes and Hut: cells of eight parts each, down to those that have one body.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

using Node = uint32_t;
constexpr Node kNoNode = ~Node{0};
using Vector = std::array<double, 3>;

struct Body {
    double mass;
    Vector at, velocity;
    bool operator==(const Body&) const = default;
};

struct Cell {
    double mass{};
    Vector centre{}; // of mass
    Vector corner{};
    double width{};
    std::array<Node, 8> children{}; // bodies, and cells from the number of bodies on
};

inline double square_of_distance(const Vector& a, const Vector& b) noexcept {
    double sum = 0;
    for (size_t axis = 0; axis < 3; ++axis) sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    return sum;
}

// The first cell is the root. What comes out does not depend on the order of bodies.
std::vector<Cell> make_tree(const std::vector<Body>& bodies);

} // namespace bench
