// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Where the elements of messages of applications with grids lie, after the descriptions in
// "Micro-Applications for Communication Data Access Patterns and MPI Datatypes" (Schneider,
// Gerstenberger and Hoefler, EuroMPI 2012) and of the applications themselves.
// bench/apps/noncontiguous.hpp tells what a shape is.

#include "bench/apps/noncontiguous.hpp"

#include <array>
#include <type_traits>

namespace bench {

// WRF, weather: the halo of the fields of an area, west to east (x) or south to north (y). Fields
// of two, three and four dimensions lie one behind the other; a column of the atmosphere is between
// the two horizontal dimensions.
template <bool along_x, bool subarrays>
struct WrfHalo {
    static constexpr size_t kHalo = 3, kArea = 64, kSide = kArea + 2 * kHalo, kLevels = 28;
    static constexpr size_t kWide = along_x ? kHalo : kArea, kDeep = along_x ? kArea : kHalo;
    struct Field {
        size_t kinds, levels; // kinds of what the air carries
        size_t row() const noexcept { return levels * kSide; }
        size_t size() const noexcept { return kinds * kSide * row(); }
    };
    static constexpr std::array<Field, 9> kFields{{{1, 1},
                                                   {1, 1},
                                                   {1, 1},
                                                   {1, 1},
                                                   {1, kLevels},
                                                   {1, kLevels},
                                                   {1, kLevels},
                                                   {4, kLevels},
                                                   {4, kLevels}}};

    size_t extent() const noexcept {
        size_t floats = 0;
        for (const Field& field : kFields) floats += field.size();
        return floats * sizeof(float);
    }
    template <class Visit>
    void walk(Visit&& visit) const {
        size_t begin = 0;
        for (const Field& field : kFields) {
            for (size_t kind = 0; kind < field.kinds; ++kind)
                for (size_t j = kHalo; j < kHalo + kDeep; ++j)
                    for (size_t level = 0; level < field.levels; ++level) {
                        const size_t at = (kind * kSide + j) * field.row() + level * kSide + kHalo;
                        visit((begin + at) * sizeof(float), Bytes<kWide * sizeof(float)>{});
                    }
            begin += field.size();
        }
    }
    Type type() const {
        Parts parts;
        size_t begin = 0;
        for (const Field& field : kFields) {
            const size_t first = begin + kHalo * field.row() + kHalo;
            if (subarrays)
                parts.add(begin * sizeof(float), subarray(parts, field));
            else
                parts.add(first * sizeof(float), hvectors(parts, field));
            begin += field.size();
        }
        return parts.all();
    }

private:
    static MPI_Datatype subarray(Parts& parts, const Field& field) {
        const int sizes[]{int(field.kinds), kSide, int(field.levels), kSide};
        const int part[]{int(field.kinds), kDeep, int(field.levels), kWide};
        const int starts[]{0, kHalo, 0, kHalo};
        return parts.make([&](MPI_Datatype* made) {
            MPI_Type_create_subarray(4, sizes, part, starts, MPI_ORDER_C, MPI_FLOAT, made);
        });
    }
    static MPI_Datatype hvectors(Parts& parts, const Field& field) {
        const auto column = parts.make([&](MPI_Datatype* made) {
            MPI_Type_vector(int(field.levels), kWide, kSide, MPI_FLOAT, made);
        });
        const auto columns = parts.make([&](MPI_Datatype* made) {
            const size_t stride = field.row() * sizeof(float);
            MPI_Type_create_hvector(kDeep, 1, MPI_Aint(stride), column, made);
        });
        return parts.make([&](MPI_Datatype* made) {
            const size_t stride = kSide * field.row() * sizeof(float);
            MPI_Type_create_hvector(int(field.kinds), 1, MPI_Aint(stride), columns, made);
        });
    }
};

struct Extents {
    size_t planes, rows, points;
};

// A part of a grid of points, each of so many elements; the type is as deep as it takes.
template <class Element, size_t elements, Extents grid, Extents part>
struct GridPart {
    static constexpr size_t kPoint = elements * sizeof(Element);

    size_t extent() const noexcept { return grid.planes * grid.rows * grid.points * kPoint; }
    template <class Visit>
    void walk(Visit&& visit) const {
        for (size_t plane = 0; plane < part.planes; ++plane)
            for (size_t row = 0; row < part.rows; ++row)
                visit((plane * grid.rows + row) * grid.points * kPoint,
                      Bytes<part.points * kPoint>{});
    }
    Type type() const {
        const Type point{[](MPI_Datatype* made) {
            MPI_Type_contiguous(elements, std::is_same_v<Element, float> ? MPI_FLOAT : MPI_DOUBLE,
                                made);
        }};
        const Type rows{[&](MPI_Datatype* made) {
            MPI_Type_vector(part.rows, part.points, grid.points, point, made);
        }};
        return Type{[&](MPI_Datatype* made) {
            if (part.rows == 1)
                MPI_Type_vector(part.planes, part.points, grid.rows * grid.points, point, made);
            else
                MPI_Type_create_hvector(part.planes, 1, grid.rows * grid.points * kPoint, rows,
                                        made);
        }};
    }
};

// MILC, lattice field theory: su3_zdown, the sites of one parity at an end of the third of four
// dimensions; three complex numbers each, and the first two dimensions are a row here.
using MilcZDown = GridPart<float, 6, Extents{16, 16, 16 * 16 / 2}, Extents{16, 1, 16 * 16 / 2}>;

// NAS LU, a solver: faces of a grid with five values at each point.
using LuX = GridPart<double, 5, Extents{64, 66, 66}, Extents{64, 64, 1}>;
using LuY = GridPart<double, 5, Extents{64, 66, 66}, Extents{64, 1, 64}>;

// NAS MG, multigrid: faces of a grid with one.
using MgX = GridPart<double, 1, Extents{66, 66, 66}, Extents{64, 64, 1}>;
using MgY = GridPart<double, 1, Extents{66, 66, 66}, Extents{64, 1, 64}>;
using MgZ = GridPart<double, 1, Extents{66, 66, 66}, Extents{1, 64, 64}>;

// SPECFEM3D, seismic waves: mt, a slice of a mesh, which its receiver keeps contiguous.
using SpecfemMt = GridPart<float, 1, Extents{128, 4, 64}, Extents{128, 1, 64}>;

// FFT2D: what one of several processes with rows of a matrix has for another, and where that puts
// it so that the matrix is transposed: what has been a row is a column.
struct FftRows {
    static constexpr size_t kMatrix = 512, kRows = 64, kNumber = 2 * sizeof(double);

    size_t extent() const noexcept { return kRows * kMatrix * kNumber; }
    template <class Visit>
    void walk(Visit&& visit) const {
        for (size_t row = 0; row < kRows; ++row)
            visit(row * kMatrix * kNumber, Bytes<kRows * kNumber>{});
    }
    Type type() const {
        return Type{[](MPI_Datatype* made) {
            MPI_Type_vector(kRows, kRows, kMatrix, MPI_C_DOUBLE_COMPLEX, made);
        }};
    }
};
struct FftColumns : FftRows {
    template <class Visit>
    void walk(Visit&& visit) const {
        for (size_t column = 0; column < kRows; ++column)
            for (size_t row = 0; row < kRows; ++row)
                visit((row * kMatrix + column) * kNumber, Bytes<kNumber>{});
    }
    Type type() const {
        const Type column{[](MPI_Datatype* made) {
            MPI_Type_vector(kRows, 1, kMatrix, MPI_C_DOUBLE_COMPLEX, made);
        }};
        const Type next_to_it{
            [&](MPI_Datatype* made) { MPI_Type_create_resized(column, 0, kNumber, made); }};
        return Type{[&](MPI_Datatype* made) { MPI_Type_contiguous(kRows, next_to_it, made); }};
    }
};

} // namespace bench
