// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "random_types.hpp"

#include <numeric>
#include <utility>

namespace traffic {
namespace {

constexpr MPI_Aint kInt = sizeof(int);

Layout contiguous(int count) {
    Layout layout;
    MPI_Type_contiguous(count, MPI_INT, &layout.type);
    layout.places.resize(size_t(count));
    std::iota(layout.places.begin(), layout.places.end(), 0);
    return layout;
}

// Blocks of all lengths, in any order.
Layout indexed(int count, Random& random) {
    std::vector<int> lengths, displacements;
    int at = between(random, -3, 3);
    for (int left = count; left > 0;) {
        const int length = between(random, 0, std::max(1, left / 2));
        lengths.push_back(std::min(length, left));
        displacements.push_back(at);
        at += lengths.back() + between(random, 0, 3);
        left -= lengths.back();
    }
    for (size_t i = 1; i < lengths.size(); ++i) {
        const auto other = size_t(between(random, 0, int(i)));
        std::swap(lengths[i], lengths[other]);
        std::swap(displacements[i], displacements[other]);
    }
    Layout layout;
    MPI_Type_indexed(int(lengths.size()), lengths.data(), displacements.data(), MPI_INT,
                     &layout.type);
    for (size_t i = 0; i < lengths.size(); ++i)
        for (int j = 0; j < lengths[i]; ++j) layout.places.push_back(displacements[i] + j);
    return layout;
}

// Of one inner type, forwards or backwards.
Layout repeated(int count, int depth, Random& random) {
    int times = between(random, 1, 8);
    while (count % times) --times;
    Layout inner = random_layout(count / times, depth - 1, random);
    const long span = inner.end() - inner.begin() + between(random, 0, 3);
    const long stride = between(random, 0, 1) ? span : -span;
    Layout layout;
    MPI_Type_create_hvector(times, 1, stride * kInt, inner.type, &layout.type);
    for (int i = 0; i < times; ++i)
        for (const long place : inner.places) layout.places.push_back(i * stride + place);
    MPI_Type_free(&inner.type);
    return layout;
}

// Two, one behind the other in memory, either of which may be sent first.
Layout pair(int count, int depth, Random& random) {
    const int first = between(random, 0, count);
    Layout one = random_layout(first, depth - 1, random);
    Layout other = random_layout(count - first, depth - 1, random);
    long at[] = {0, one.end() - other.begin() + between(random, 0, 3)};
    int lengths[] = {1, 1};
    if (between(random, 0, 1)) {
        std::swap(one, other);
        std::swap(at[0], at[1]);
    }
    MPI_Aint displacements[] = {at[0] * kInt, at[1] * kInt};
    MPI_Datatype types[] = {one.type, other.type};
    Layout layout;
    MPI_Type_create_struct(2, lengths, displacements, types, &layout.type);
    for (const long place : one.places) layout.places.push_back(at[0] + place);
    for (const long place : other.places) layout.places.push_back(at[1] + place);
    MPI_Type_free(&one.type);
    MPI_Type_free(&other.type);
    return layout;
}

} // namespace

Layout random_layout(int count, int depth, Random& random) {
    Layout layout = [&] {
        if (depth == 0 || count == 0) return contiguous(count);
        switch (between(random, 0, 2)) {
        case 0:
            return indexed(count, random);
        case 1:
            return repeated(count, depth, random);
        default:
            return pair(count, depth, random);
        }
    }();
    MPI_Type_commit(&layout.type);
    return layout;
}

} // namespace traffic
