// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/octree.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

class Builder {
public:
    explicit Builder(const std::vector<Body>& bodies)
        : bodies_{bodies} {
        Vector low = bodies.front().at;
        Vector high = low;
        for (const Body& body : bodies)
            for (size_t axis = 0; axis < 3; ++axis) {
                low[axis] = std::min(low[axis], body.at[axis]);
                high[axis] = std::max(high[axis], body.at[axis]);
            }
        double width = 0;
        for (size_t axis = 0; axis < 3; ++axis) width = std::max(width, high[axis] - low[axis]);
        add_cell(low, width * 1.0001); // the highest is inside
        for (Node i = 0; i < bodies.size(); ++i) insert(i);
        weigh(0);
    }

    std::vector<Cell> take() { return std::move(cells_); }

private:
    static constexpr int kMostDepth = 48; // two bodies are at the same place

    Node first_cell() const noexcept { return Node(bodies_.size()); }

    Node add_cell(const Vector& corner, double width) {
        Cell& cell = cells_.emplace_back();
        cell.corner = corner;
        cell.width = width;
        cell.children.fill(kNoNode);
        return first_cell() + Node(cells_.size() - 1);
    }

    static size_t part(const Cell& cell, const Vector& at) noexcept {
        size_t part = 0;
        for (size_t axis = 0; axis < 3; ++axis)
            if (at[axis] >= cell.corner[axis] + cell.width / 2) part |= size_t{1} << axis;
        return part;
    }

    Node add_part(size_t of, size_t part) {
        const double half = cells_[of].width / 2;
        Vector corner = cells_[of].corner;
        for (size_t axis = 0; axis < 3; ++axis)
            if (part >> axis & 1) corner[axis] += half;
        const Node cell = add_cell(corner, half);
        cells_[of].children[part] = cell;
        return cell;
    }

    // Where another body is already, both go further down.
    void insert(Node body) {
        size_t cell = 0;
        for (int depth = 0; depth < kMostDepth; ++depth) {
            const size_t part = this->part(cells_[cell], bodies_[body].at);
            const Node there = cells_[cell].children[part];
            if (there == kNoNode) {
                cells_[cell].children[part] = body;
                return;
            }
            const bool taken = there < first_cell();
            const Node below = taken ? add_part(cell, part) : there;
            cell = below - first_cell();
            if (taken) cells_[cell].children[this->part(cells_[cell], bodies_[there].at)] = there;
        }
        throw std::runtime_error{"two bodies are at the same place"};
    }

    void weigh(size_t number) {
        Cell& cell = cells_[number];
        for (const Node child : cell.children) {
            if (child == kNoNode) continue;
            if (child >= first_cell()) weigh(child - first_cell());
            const bool body = child < first_cell();
            const double mass = body ? bodies_[child].mass : cells_[child - first_cell()].mass;
            const Vector& at = body ? bodies_[child].at : cells_[child - first_cell()].centre;
            cell.mass += mass;
            for (size_t axis = 0; axis < 3; ++axis) cell.centre[axis] += mass * at[axis];
        }
        for (double& axis : cell.centre) axis /= cell.mass;
    }

    const std::vector<Body>& bodies_;
    std::vector<Cell> cells_;
};

} // namespace

std::vector<Cell> make_tree(const std::vector<Body>& bodies) { return Builder{bodies}.take(); }

} // namespace bench
