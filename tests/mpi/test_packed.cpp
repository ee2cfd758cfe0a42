// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Memory for packed data is used again, as long as there is enough of it.

#include "granules.hpp"
#include "packed.hpp"

#include <cstring>
#include <deque>
#include <doctest/doctest.h>

using namespace odrc::mpi;

TEST_CASE("the first granules that are free are taken, if enough of them are together") {
    Granules<8> granules;
    CHECK(granules.take(3) == 0);
    CHECK(granules.take(2) == 3);
    CHECK(granules.take(2) == 5);
    CHECK(!granules.take(2));
    CHECK(granules.take(1) == 7);
    CHECK(!granules.take(1));
    granules.give_back(3, 2);
    granules.give_back(7, 1);
    CHECK(!granules.take(3)); // there are as many, but not together
    CHECK(granules.take(1) == 3);
    granules.give_back(5, 2);
    CHECK(granules.take(4) == 4);
    granules.give_back(0, 3);
    CHECK(granules.take(2) == 0);
    CHECK(granules.take(1) == 2);
}

TEST_CASE("packed data has the memory that was used last, and all that it asks for") {
    constexpr size_t kLong = 100'000;
    Packed one, other;
    CHECK(!one);
    std::byte* const place = one.make(kLong);
    std::memset(place, 1, kLong);
    CHECK(one.get() == place);
    CHECK(other.make(kLong) >= place + kLong);
    one.drop();
    CHECK(!one);
    CHECK(other.make(kLong) == place);
    CHECK(one.make(kLong, Packed::From::anew) != place);
    std::byte* const shorts = one.make(100);
    one.drop();
    CHECK(one.make(4096) == shorts);
    CHECK(one.make(0));
}

TEST_CASE("with more than is kept the system has to do") {
    constexpr size_t kBytes = size_t{10} << 20;
    std::deque<Packed> all(8);
    for (Packed& packed : all) std::memset(packed.make(kBytes), 7, kBytes);
    for (Packed& packed : all) CHECK(packed.get()[kBytes - 1] == std::byte{7});
    all.clear();
    Packed again;
    std::byte* const place = again.make(kBytes);
    again.drop();
    CHECK(again.make(kBytes) == place);
}
