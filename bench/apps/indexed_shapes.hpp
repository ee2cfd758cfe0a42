// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Where the elements of messages of applications lie that have lists of what they send; from where
// grid_shapes.hpp is from.

#include "bench/apps/noncontiguous.hpp"

#include <type_traits>

namespace bench {

// One of so many things, on average, in a random choice that is always the same.
inline std::vector<int> chosen(int things, int one_of) {
    std::vector<int> indices;
    for (int i = 0; i < things; ++i)
        if (fabtests_ext::scramble(uint64_t(i)) % uint64_t(one_of) == 0) indices.push_back(i);
    return indices;
}

// Indexed blocks of arrays that lie one behind the other, each of so many things.
template <class Element, size_t... elements>
struct IndexedArrays {
    size_t extent() const noexcept { return size_t(things) * sizeof(Element) * (elements + ...); }
    template <class Visit>
    void walk(Visit&& visit) const {
        size_t begin = 0;
        const auto array = [&](auto size) {
            for (const int index : indices) visit(begin + size_t(index) * size, size);
            begin += size_t(things) * size;
        };
        (array(Bytes<elements * sizeof(Element)>{}), ...);
    }
    Type type() const {
        Parts parts;
        size_t begin = 0;
        const auto array = [&](size_t each) {
            std::vector<int> displacements = indices;
            for (int& displacement : displacements) displacement *= int(each);
            parts.add(begin, parts.make([&](MPI_Datatype* made) {
                MPI_Type_create_indexed_block(
                    int(displacements.size()), int(each), displacements.data(),
                    std::is_same_v<Element, float> ? MPI_FLOAT : MPI_DOUBLE, made);
            }));
            begin += size_t(things) * each * sizeof(Element);
        };
        (array(elements), ...);
        return parts.all();
    }

    int things;
    std::vector<int> indices;
};

// LAMMPS, molecular dynamics: particles near a border, in the order in which they lie, whose
// positions (three numbers) and other properties are in arrays of their own.
using LammpsFull = IndexedArrays<double, 3, 1, 1, 1, 1, 1>;
using LammpsAtomic = IndexedArrays<double, 3, 1, 1, 1>;

// And where they are received: behind those that the receiver has, in each array.
template <class Particles>
struct Ghosts;
template <size_t... elements>
struct Ghosts<IndexedArrays<double, elements...>> {
    size_t extent() const noexcept {
        return size_t(own + ghosts) * sizeof(double) * (elements + ...);
    }
    template <class Visit>
    void walk(Visit&& visit) const {
        size_t begin = 0;
        const auto array = [&](size_t each) {
            const size_t size = each * sizeof(double);
            visit(begin + size_t(own) * size, size_t(ghosts) * size);
            begin += size_t(own + ghosts) * size;
        };
        (array(elements), ...);
    }
    Type type() const {
        Parts parts;
        walk([&](size_t offset, size_t bytes) {
            parts.add(offset, parts.make([&](MPI_Datatype* made) {
                MPI_Type_contiguous(int(bytes / sizeof(double)), MPI_DOUBLE, made);
            }));
        });
        return parts.all();
    }

    int own, ghosts;
};

// SPECFEM3D, seismic waves: oc, a value of each point of the outer core on a border; cm, three of
// each in the crust and mantle, and in the inner core.
using SpecfemOc = IndexedArrays<float, 1>;
using SpecfemCm = IndexedArrays<float, 3, 3>;

// The order of such points is that of their coordinates, which is none of their memory.
inline std::vector<int> shuffled(std::vector<int> indices) {
    std::ranges::sort(indices, {}, [](int i) { return fabtests_ext::scramble(~uint64_t(i)); });
    return indices;
}

} // namespace bench
