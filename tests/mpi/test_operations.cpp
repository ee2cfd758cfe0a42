// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "op.hpp"

#include <complex>
#include <doctest/doctest.h>

using namespace odrc::mpi;

namespace {

template <class T>
T result(MPI_Op op, MPI_Datatype type, T in, T inout) {
    Datatype& t = *Datatype::of(type);
    REQUIRE(Op::of(op)->takes(t));
    Op::of(op)->apply(&in, &inout, 1, t);
    return inout;
}

bool takes(MPI_Op op, MPI_Datatype type) { return Op::of(op)->takes(*Datatype::of(type)); }

struct DoubleInt {
    double value;
    int index;
};

} // namespace

TEST_CASE("operations are what their names say, of each kind of number") {
    CHECK(result<int>(MPI_MAX, MPI_INT, -5, 3) == 3);
    CHECK(result<int>(MPI_MIN, MPI_INT, -5, 3) == -5);
    CHECK(result<unsigned>(MPI_MAX, MPI_UNSIGNED, 0xffffffff, 3) == 0xffffffff);
    CHECK(result<short>(MPI_SUM, MPI_SHORT, -5, 3) == -2);
    CHECK(result<double>(MPI_PROD, MPI_DOUBLE, -5, 3) == -15);
    CHECK(result<long double>(MPI_SUM, MPI_LONG_DOUBLE, 0.5L, 3) == 3.5L);
    CHECK(result<int>(MPI_LAND, MPI_INT, 2, 4) == 1);
    CHECK(result<int>(MPI_LOR, MPI_INT, 0, 0) == 0);
    CHECK(result<int>(MPI_LXOR, MPI_INT, 2, 4) == 0);
    CHECK(result<int>(MPI_BAND, MPI_INT, 6, 3) == 2);
    CHECK(result<unsigned char>(MPI_BOR, MPI_BYTE, 6, 1) == 7);
    CHECK(result<int64_t>(MPI_BXOR, MPI_INT64_T, 6, 3) == 5);
    using Complex = std::complex<double>;
    CHECK(result<Complex>(MPI_PROD, MPI_C_DOUBLE_COMPLEX, {0, 1}, {0, 1}) == Complex{-1, 0});
}

TEST_CASE("of equal values the lower place counts") {
    const auto most = result<DoubleInt>(MPI_MAXLOC, MPI_DOUBLE_INT, {2.5, 7}, {2.5, 3});
    CHECK(most.index == 3);
    const auto least = result<DoubleInt>(MPI_MINLOC, MPI_DOUBLE_INT, {2.5, 7}, {4.5, 3});
    CHECK(least.value == 2.5);
    CHECK(least.index == 7);
}

TEST_CASE("an operation takes what the standard defines it for, and nothing else") {
    CHECK_FALSE(takes(MPI_BAND, MPI_DOUBLE));
    CHECK_FALSE(takes(MPI_LAND, MPI_FLOAT));
    CHECK_FALSE(takes(MPI_MAX, MPI_C_DOUBLE_COMPLEX));
    CHECK_FALSE(takes(MPI_SUM, MPI_BYTE));
    CHECK_FALSE(takes(MPI_SUM, MPI_CHAR));
    CHECK_FALSE(takes(MPI_SUM, MPI_DOUBLE_INT));
    CHECK_FALSE(takes(MPI_MAXLOC, MPI_DOUBLE));
    CHECK_FALSE(takes(MPI_SUM, MPI_C_BOOL));
    CHECK(takes(MPI_LOR, MPI_C_BOOL));
    CHECK(takes(MPI_SUM, MPI_C_FLOAT_COMPLEX));
    CHECK(Op::of(MPI_OP_NULL) == nullptr);
}
