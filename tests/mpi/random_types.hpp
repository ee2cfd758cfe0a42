// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Random datatypes of a given number of ints, and where each of these lies: for any MPI.

#include <algorithm>
#include <mpi.h>
#include <random>
#include <utility>
#include <vector>

namespace traffic {

using Random = std::mt19937;

inline int between(Random& random, int least, int most) {
    return std::uniform_int_distribution<int>{least, most}(random);
}

// A committed type, and the places of its ints, in ints from the address and in their order.
struct Layout {
    MPI_Datatype type;
    std::vector<long> places;

    long begin() const { return places.empty() ? 0 : *std::ranges::min_element(places); }
    long end() const { return places.empty() ? 0 : *std::ranges::max_element(places) + 1; }
};

Layout random_layout(int count, int depth, Random& random);

// Memory in which ints lie so, with something else between them.
class Place {
public:
    Place(int count, Random& random)
        : layout_{random_layout(count, between(random, 0, 3), random)}
        , begin_{layout_.begin() - 1}
        , ints_(size_t(layout_.end() - begin_) + 1, kGap) {}
    ~Place() { MPI_Type_free(&layout_.type); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    void* address() { return ints_.data() - begin_; }
    MPI_Datatype type() const { return layout_.type; }
    void fill(int first) {
        for (const long place : layout_.places) at(place) = first++;
    }
    // Whether it holds what fill() wrote at the other side, and nothing is beside that.
    bool holds(int first) {
        for (const long place : layout_.places)
            if (std::exchange(at(place), kGap) != first++) return false;
        return std::ranges::all_of(ints_, [](int value) { return value == kGap; });
    }

private:
    static constexpr int kGap = -1;

    int& at(long place) { return ints_[size_t(place - begin_)]; }

    Layout layout_;
    const long begin_; // of the ints, one before the first that is sent
    std::vector<int> ints_;
};

} // namespace traffic
