// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Types whose layouts peers keep, and the layouts of peers.

#include "layout_cache.hpp"
#include "nestings.hpp"

#include <doctest/doctest.h>

using namespace nestings;

namespace {

std::shared_ptr<Datatype> row(size_t length) {
    return owned(make_contiguous(length, *Datatype::of(MPI_INT)));
}

} // namespace

TEST_CASE("a type has its number until it is freed, and the next one has another version of it") {
    TypeNumbers numbers;
    const auto one = row(1);
    auto other = row(2);
    const TypeNumbers::Number first = numbers.of(*one), second = numbers.of(*other);
    CHECK(first.index != second.index);
    CHECK(numbers.of(*one).index == first.index);
    CHECK(numbers.of(*one).version == first.version);
    numbers.tell(first.index, 7);
    numbers.tell(second.index, 7);
    CHECK(numbers.is_told(first.index, 7));
    CHECK_FALSE(numbers.is_told(first.index, 8));

    other.reset();
    CHECK_FALSE(numbers.is_told(second.index, 7));
    other = row(3);
    const TypeNumbers::Number next = numbers.of(*other);
    CHECK(next.index == second.index);
    CHECK(next.version == second.version + 1);
    CHECK_FALSE(numbers.is_told(next.index, 7));
    CHECK(numbers.is_told(first.index, 7));
}

TEST_CASE("a type that is in use keeps its number when its handle is freed") {
    TypeNumbers numbers;
    Datatype* type = make_contiguous(2, *Datatype::of(MPI_INT));
    const uint32_t index = numbers.of(*type).index;
    numbers.tell(index, 7);
    Ref<Datatype> user{*type};
    type->release();
    CHECK(numbers.is_told(index, 7));
    user = {};
    CHECK_FALSE(numbers.is_told(index, 7));
}

TEST_CASE("there are so many numbers and no more") {
    TypeNumbers numbers{2};
    auto one = row(1);
    const auto two = row(2), three = row(3);
    numbers.of(*one);
    numbers.of(*two);
    CHECK(numbers.of(*three).index == TypeNumbers::kNone);
    CHECK_FALSE(numbers.is_told(TypeNumbers::kNone, 7));
    numbers.tell(TypeNumbers::kNone, 7);
    CHECK_FALSE(numbers.is_told(TypeNumbers::kNone, 7));
    one.reset();
    CHECK(numbers.of(*three).index != TypeNumbers::kNone);
}

TEST_CASE("versions come round again, and nobody is believed to know what it does not") {
    TypeNumbers numbers{1, UINT32_MAX};
    KnownLayouts known;
    auto type = row(1);
    TypeNumbers::Number number = numbers.of(*type);
    CHECK(number.version == UINT32_MAX);
    numbers.tell(number.index, 7);
    known.keep(7, number.index, number.version, type->layout());
    type = row(2);
    number = numbers.of(*type);
    CHECK(number.version == 0);
    CHECK_FALSE(numbers.is_told(number.index, 7));
    CHECK(known.find(7, number.index, number.version) == nullptr);
}

TEST_CASE("types outlast numbers") {
    const auto type = row(1);
    {
        TypeNumbers numbers;
        numbers.of(*type);
    }
    TypeNumbers others;
    CHECK(others.of(*type).index == 0);
}

TEST_CASE("what a peer has told is found by its number and version, until it tells another") {
    KnownLayouts known;
    const LayoutRef one = row(2)->layout(), other = row(3)->layout();
    CHECK(known.find(1, 0, 0) == nullptr);
    known.keep(1, 0, 5, one);
    known.keep(2, 0, 5, other);
    CHECK(known.find(1, 0, 5) == one);
    CHECK(known.find(2, 0, 5) == other);
    CHECK(known.find(1, 0, 4) == nullptr);
    CHECK(known.find(1, 1, 5) == nullptr);
    known.keep(1, 0, 6, other);
    CHECK(known.find(1, 0, 5) == nullptr);
    CHECK(known.find(1, 0, 6) == other);
    known.keep(1, 0, 6, one); // told again: what is told last counts
    CHECK(known.find(1, 0, 6) == one);
    known.keep(1, TypeNumbers::kNone, 0, one);
    CHECK(known.find(1, TypeNumbers::kNone, 0) == nullptr);
    CHECK(one.use_count() == 2);
}
