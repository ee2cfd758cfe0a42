// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Layouts as bytes: what comes back is what was told, and no bytes do harm.

#include "blocks.hpp"
#include "layout_wire.hpp"
#include "nestings.hpp"

#include <doctest/doctest.h>

using namespace nestings;

namespace {

bool are_alike(const Layout& one, const Layout& other) {
    if (one.kind() != other.kind() || one.size() != other.size() || one.count() != other.count() ||
        one.stride() != other.stride() || one.begin() != other.begin() ||
        one.end() != other.end() || one.is_flat() != other.is_flat() ||
        !std::ranges::equal(one.places(), other.places()) || !one.what() != !other.what())
        return false;
    if (one.what() && !are_alike(*one.what(), *other.what())) return false;
    return std::ranges::equal(
        one.parts(), other.parts(), [](const Layout::Part& a, const Layout::Part& b) {
            return a.at == b.at && a.before == b.before && are_alike(*a.layout, *b.layout);
        });
}

// Uses what bytes have made in every way; nothing is said of what comes out.
void try_out(const LayoutRef& layout) {
    if (!layout) return;
    std::byte* const somewhere = reinterpret_cast<std::byte*>(uintptr_t{1} << 62);
    iovec room[8];
    for (const size_t from : {size_t{0}, layout->size() / 2, layout->size() - 1, layout->size()}) {
        layout->pieces(somewhere, 1, 0, from, 1000, room);
        layout->ends_within_element(from);
    }
    Datatype* type = new Datatype{layout, layout->begin(), layout->end(), 1};
    const Blocks blocks = blocks_of({somewhere, 1, *type});
    CHECK(blocks.bytes == layout->size());
    type->release();
    const std::vector<std::byte> bytes = encode(*layout);
    if (bytes.empty()) return; // parts of it reach farther than it does
    const LayoutRef again = decode(bytes);
    REQUIRE(again);
    CHECK(again->size() == layout->size());
}

LayoutRef decode_numbers(const std::vector<uint64_t>& numbers) {
    std::vector<std::byte> bytes;
    for (uint64_t number : numbers) {
        for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<std::byte>(number | 0x80));
        bytes.push_back(static_cast<std::byte>(number));
    }
    return decode(bytes);
}

} // namespace

TEST_CASE("a layout comes back from its bytes as it was") {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        Maker maker{seed};
        const Pair what = maker.make(maker.number(0, 5));
        const std::vector<std::byte> bytes = encode(*what.type->layout());
        const LayoutRef layout = decode(bytes);
        REQUIRE(layout);
        REQUIRE(are_alike(*layout, *what.type->layout()));
        // A part of the bytes may be a layout, but not this one.
        for (size_t n = 0; n < bytes.size(); ++n) {
            const LayoutRef part = decode(std::span{bytes}.first(n));
            if (part) try_out(part);
        }
    }
}

TEST_CASE("bytes with bits turned over are another layout, or none") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        Maker maker{seed};
        const Pair what = maker.make(maker.number(1, 4));
        const std::vector<std::byte> bytes = encode(*what.type->layout());
        for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            std::vector<std::byte> turned = bytes;
            turned[bit / 8] ^= std::byte{1} << (bit % 8);
            try_out(decode(turned));
        }
        for (int i = 0; i < 100; ++i) {
            std::vector<std::byte> any(static_cast<size_t>(maker.number(0, 40)));
            for (std::byte& byte : any) // small numbers most often, of which layouts are made
                byte = static_cast<std::byte>(maker.number(0, 9) ? maker.number(0, 4)
                                                                 : maker.number(0, 255));
            try_out(decode(any));
        }
    }
}

TEST_CASE("what is regular is few bytes, and what is there twice is told once") {
    const Datatype& number = *Datatype::of(MPI_DOUBLE);
    CHECK(encode(*owned(make_vector(1'000'000, 3, 8000, number))->layout()).size() <= 10);
    std::vector<Block> regular, irregular;
    for (ptrdiff_t i = 0; i < 10'000; ++i) {
        regular.push_back({i * 24, 2, &number});
        irregular.push_back({i * 24 + i * i % 7, 1, &number});
    }
    CHECK(encode(*owned(make_blocks(regular))->layout()).size() <= 10);
    CHECK(encode(*owned(make_blocks(irregular))->layout()).size() <= 10'020);

    // Twice the one before, 50 times over.
    LayoutRef doubled = Layout::list({{0, Layout::run(1, 4), 0}, {8, Layout::run(1, 8), 0}});
    for (int i = 0; i < 50; ++i)
        doubled = Layout::list(
            {{0, doubled, 0}, {doubled->end() + 1, doubled, 0}, {-1000, Layout::run(1, 2), 0}});
    const std::vector<std::byte> bytes = encode(*doubled);
    CHECK(bytes.size() < 1500);
    REQUIRE(decode(bytes));
    CHECK(decode(bytes)->size() == doubled->size());
}

TEST_CASE("a tree has its bound of depth, whoever tells of it") {
    LayoutRef deep = Layout::run(1, 4);
    for (ptrdiff_t depth = 2; depth <= 100; ++depth)
        deep = Layout::list({{0, deep, 0}, {-8 * depth, Layout::run(1, 2), 0}});
    REQUIRE(decode(encode(*deep)));
    CHECK(are_alike(*decode(encode(*deep)), *deep));
    CHECK(encode(*Layout::list({{8, deep, 0}})).empty());
    const auto of_lists = [](int lists) {
        std::vector<uint64_t> numbers{0, 1, 4};
        for (; lists > 0; --lists) numbers.insert(numbers.end(), {3, 1, 2, 1});
        return decode_numbers(numbers);
    };
    CHECK(of_lists(99));
    CHECK_FALSE(of_lists(100));
}

TEST_CASE("what overflows, or is made of nothing, is no layout") {
    constexpr uint64_t kMuch = uint64_t{1} << 40, kFar = uint64_t{1} << 62;
    const LayoutRef vector = decode_numbers({0, 1, 4, 1, 3, 16, 1});
    REQUIRE(vector);
    CHECK(are_alike(*vector, *Layout::repeat(3, 8, Layout::run(1, 4))));
    CHECK_FALSE(decode({}));
    CHECK_FALSE(decode_numbers({4}));
    CHECK_FALSE(decode_numbers({256, 1, 4}));
    CHECK_FALSE(decode_numbers({0, 1, 0}));              // elements of no size
    CHECK_FALSE(decode_numbers({0, kMuch, kMuch}));      // more than there can be
    CHECK_FALSE(decode_numbers({0, 1, 4, 1, 0, 16, 1})); // none of them
    CHECK_FALSE(decode_numbers({0, 1, 4, 1, 3, 16, 0})); // of itself
    CHECK_FALSE(decode_numbers({0, 1, 4, 1, 3, 16, 2})); // of none that is there
    CHECK_FALSE(decode_numbers({0, 0, 1, 1, 3, 16, 1})); // of what is empty
    CHECK_FALSE(decode_numbers({0, 1, 4, 1, kFar / 4, 0, 1}));
    CHECK_FALSE(decode_numbers({0, 1, 4, 1, kMuch, kMuch, 1}));
    CHECK_FALSE(decode_numbers({0, 1, 4, 1, 2, kFar, 1}));
    CHECK_FALSE(decode_numbers({0, 1, 4, 2, 2, 1, kFar, 0}));
    CHECK_FALSE(decode_numbers({0, 1, 4, 2, kMuch, 1, 0, 0}));
    CHECK_FALSE(decode_numbers({0, 1, 4, 3, kMuch, 0, 1}));
    CHECK_FALSE(decode_numbers({0, 1, kFar / 4, 3, 2, 0, 1, 0, 1}));
    std::vector<std::byte> more_than_64_bits(9, std::byte{0xff});
    more_than_64_bits.push_back(std::byte{2});
    CHECK_FALSE(decode(more_than_64_bits));
}
