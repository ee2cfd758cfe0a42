// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "fabtests_ext/patterns/patterns.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace fabtests_ext {
namespace {

int log2_of(int size) {
    const auto n = static_cast<unsigned>(size);
    if (!std::has_single_bit(n)) throw std::invalid_argument{"not a power of two"};
    return std::countr_zero(n);
}

} // namespace

// Rows times columns of processes: sums along a row, and the transposed one's part.
void conjugate_gradient(Member& m) {
    const int log = log2_of(m.size());
    const int rows = 1 << log / 2, columns = m.size() / rows;
    const int me = m.rank();
    barrier(m);
    for (int distance = 1; distance < columns; distance *= 2)
        m.exchange(me ^ distance, me ^ distance);
    const auto transposed = [rows](int n) { return n % rows * rows + n / rows; };
    const int other = rows == columns ? transposed(me) : 2 * transposed(me / 2) + me % 2;
    if (other != me) m.exchange(other, other);
}

// A periodic grid in three dimensions, coarser by two at each level: neighbours are further off
// there.
void multigrid(Member& m) {
    std::array<int, 3> sizes{1, 1, 1};
    for (int log = log2_of(m.size()), axis = 2; log > 0; --log, axis = (axis + 2) % 3)
        sizes[static_cast<size_t>(axis)] *= 2;
    allreduce(m);
    int stride = 1;
    for (const int size : sizes) {
        const int place = m.rank() / stride % size;
        const auto at = [&](int to) { return m.rank() + (to - place) * stride; };
        for (int distance = 1; distance < size; distance *= 2) {
            const int up = at((place + distance) % size);
            const int down = at((place + size - distance) % size);
            m.exchange(up, down);
            m.exchange(down, up);
        }
        stride *= size;
    }
}

// A wave through a plane of processes, from one corner to the other and back: each passes on what
// it gets from two neighbours to the other two, layer by layer.
void lower_upper(Member& m) {
    const int log = log2_of(m.size());
    const int columns = 1 << log / 2, rows = m.size() / columns;
    const int column = m.rank() % columns, row = m.rank() / columns;
    constexpr int kLayers = 4;
    for (const int step : {1, -1}) {
        const auto neighbour = [&](int c, int r) {
            return c >= 0 && c < columns && r >= 0 && r < rows ? c + columns * r : -1;
        };
        const int above = neighbour(column, row - step), left = neighbour(column - step, row);
        const int below = neighbour(column, row + step), right = neighbour(column + step, row);
        for (int layer = 0; layer < kLayers; ++layer) {
            for (const int from : {above, left})
                if (from >= 0) m.receive(from);
            for (const int to : {below, right})
                if (to >= 0) m.send(to);
        }
    }
    allreduce(m);
}

// How many keys go where, and the keys.
void integer_sort(Member& m) {
    allreduce(m);
    alltoall(m);
}

// Each process has one cell in every plane of a square of squares: its neighbours along the three
// axes are those in its row, its column, and its diagonal.
void multi_partition(Member& m) {
    const auto side = static_cast<int>(std::lround(std::sqrt(m.size())));
    if (side * side != m.size()) throw std::invalid_argument{"not a square"};
    broadcast(m);
    barrier(m);
    const int column = m.rank() % side, row = m.rank() / side;
    const auto at = [side](int c, int r) { return (c + side) % side + side * ((r + side) % side); };
    constexpr int kAxes[3][2] = {{1, 0}, {0, 1}, {1, -1}};
    for (const auto& [right, down] : kAxes) {
        const int next = at(column + right, row + down), last = at(column - right, row - down);
        if (next == m.rank()) continue; // of one process
        m.exchange(next, last);
        m.exchange(last, next);
    }
}

} // namespace fabtests_ext
