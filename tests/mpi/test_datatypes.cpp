// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Datatypes of any nesting do what their type maps say.

#include "nestings.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <numeric>

using namespace nestings;

namespace {

// So many of a type in memory of its own, each byte of which tells where it is.
class Memory {
public:
    Memory(const Pair& what, int count)
        : what_{what}
        , count_{count} {
        const ptrdiff_t extent = what.ub - what.lb;
        for (int i = 0; i < count; ++i)
            for (const Element& e : what.map) elements_.push_back({i * extent + e.at, e.size});
        for (const Element& e : elements_) {
            low_ = std::min(low_, e.at);
            high_ = std::max(high_, e.at + static_cast<ptrdiff_t>(e.size));
        }
        bytes_.resize(static_cast<size_t>(high_ - low_));
        for (size_t i = 0; i < bytes_.size(); ++i)
            bytes_[i] = static_cast<std::byte>(i * 7 + i / 251);
    }
    Data data() { return {bytes_.data() - low_, static_cast<size_t>(count_), *what_.type}; }
    // By the type map.
    std::vector<std::byte> packed() const {
        std::vector<std::byte> all;
        for (const Element& e : elements_)
            for (size_t i = 0; i < e.size; ++i)
                all.push_back(bytes_[static_cast<size_t>(e.at - low_) + i]);
        return all;
    }
    void clear() { std::ranges::fill(bytes_, std::byte{0xee}); }
    // What unpacking has to make of cleared memory, the last one of what overlaps counting.
    std::vector<std::byte> unpacked(const std::vector<std::byte>& from) const {
        std::vector<std::byte> memory(bytes_.size(), std::byte{0xee});
        size_t next = 0;
        for (const Element& e : elements_)
            for (size_t i = 0; i < e.size; ++i)
                memory[static_cast<size_t>(e.at - low_) + i] = from[next++];
        return memory;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    const Pair& what_;
    int count_;
    std::vector<Element> elements_;
    ptrdiff_t low_{0}, high_{0};
    std::vector<std::byte> bytes_;
};

// Ends of pieces of so many bytes, chosen at random: within elements, too.
std::vector<size_t> cuts(Maker& maker, size_t bytes) {
    std::vector<size_t> all{0, bytes};
    for (int i = maker.number(0, 5); i > 0; --i)
        all.push_back(static_cast<size_t>(maker.number(0, static_cast<int>(bytes))));
    std::ranges::sort(all);
    return all;
}

// How a layout is visited.
struct Batches {
    bool operator()(std::byte*, size_t) {
        ++pieces;
        return true;
    }
    template <class Places>
    void operator()(std::byte*, const Places& places, const Layout& what) {
        ++batches;
        runs += places.size() * what.count();
    }
    size_t pieces{0}, batches{0}, runs{0};
};

} // namespace

TEST_CASE("a datatype of any nesting is what its type map says") {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        Maker maker{seed};
        const Pair what = maker.make(maker.number(0, 4));
        REQUIRE(what.type->lb() == what.lb);
        REQUIRE(what.type->ub() == what.ub);
        size_t bytes = 0, elements = 0;
        for (const Element& e : what.map) {
            bytes += e.size;
            ++elements;
        }
        REQUIRE(what.type->size() == bytes);
        const Layout& layout = *what.type->layout();
        REQUIRE(layout.elements_in(bytes) == elements);
        bytes = elements = 0;
        for (const Element& e : what.map) {
            CHECK(layout.ends_within_element(bytes + e.size / 2) == (e.size > 1));
            CHECK(layout.elements_in(bytes + e.size - 1) == elements);
            bytes += e.size;
            ++elements;
            CHECK(layout.elements_in(bytes) == elements);
            CHECK_FALSE(layout.ends_within_element(bytes));
        }
        if (what.map.empty()) continue;
        ptrdiff_t begin = what.map[0].at, end = begin;
        for (const Element& e : what.map) {
            begin = std::min(begin, e.at);
            end = std::max(end, e.at + static_cast<ptrdiff_t>(e.size));
        }
        REQUIRE(layout.begin() == begin);
        REQUIRE(layout.end() == end);
    }
}

TEST_CASE("it is packed and unpacked in the order of its type map, in pieces cut anywhere") {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        Maker maker{seed};
        const Pair what = maker.make(maker.number(0, 4));
        // Few, or so many that those that are alike go together.
        Memory memory{what, seed % 4 == 0 ? maker.number(8, 60) : maker.number(0, 3)};
        const Data data = memory.data();
        const std::vector<std::byte> expected = memory.packed();
        REQUIRE(data.bytes() == expected.size());
        if (data.is_contiguous() && !expected.empty())
            CHECK(std::memcmp(data.address + data.type->layout()->begin(), expected.data(),
                              expected.size()) == 0);
        std::vector<std::byte> packed(expected.size());
        const auto ends = cuts(maker, packed.size());
        for (size_t i = 1; i < ends.size(); ++i)
            data.pack(ends[i - 1], std::span{packed}.subspan(ends[i - 1], ends[i] - ends[i - 1]));
        REQUIRE(packed == expected);
        const std::vector<std::byte> after = memory.unpacked(expected);
        memory.clear();
        for (size_t i = 1; i < ends.size(); ++i)
            data.unpack(ends[i - 1],
                        std::span{expected}.subspan(ends[i - 1], ends[i] - ends[i - 1]));
        REQUIRE(memory.bytes() == after);
    }
}

TEST_CASE("what lies in one piece is known to, and takes no more memory for being much") {
    const Datatype& number = *Datatype::of(MPI_INT);
    const auto row = owned(make_contiguous(1000, number));
    CHECK(row->is_contiguous(5));
    const auto dense = owned(make_vector(100, 10, 40, number)); // without gaps
    CHECK(dense->is_contiguous(3));
    const auto column = owned(make_vector(1'000'000, 1, 4000, number));
    CHECK_FALSE(column->is_contiguous(1));
    CHECK(column->size() == 4'000'000);
    size_t pieces = 0;
    const Data data{nullptr, 1, *column};
    data.for_each_piece(3'999'990, 10, [&](std::byte*, size_t) { ++pieces; });
    CHECK(pieces == 3); // 2 bytes of one, and two whole ones
}

TEST_CASE("its pieces are told a few at a time, from any byte on") {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        Maker maker{seed};
        const Pair what = maker.make(maker.number(0, 4));
        Memory memory{what, maker.number(0, 3)};
        const Data data = memory.data();
        const std::vector<std::byte> expected = memory.packed();
        std::vector<std::byte> gathered;
        while (gathered.size() < expected.size()) {
            iovec room[4];
            const auto into = std::span{room}.first(static_cast<size_t>(maker.number(1, 4)));
            const auto most = static_cast<size_t>(maker.number(1, 40));
            const Pieces pieces = data.pieces(gathered.size(), most, into);
            const size_t before = gathered.size();
            for (size_t i = 0; i < pieces.count; ++i) {
                const auto* at = static_cast<const std::byte*>(into[i].iov_base);
                CHECK(into[i].iov_len > 0);
                if (i > 0) {
                    const auto* last = static_cast<const std::byte*>(into[i - 1].iov_base);
                    CHECK(last + into[i - 1].iov_len != at);
                }
                gathered.insert(gathered.end(), at, at + into[i].iov_len);
            }
            REQUIRE(pieces.bytes == gathered.size() - before);
            REQUIRE(pieces.bytes <= most);
            const bool is_full = pieces.count == into.size();
            REQUIRE((is_full || pieces.bytes == std::min(most, expected.size() - before)));
        }
        REQUIRE(gathered == expected);
        CHECK(data.pieces(expected.size(), 1, {}).bytes == 0);
    }
}

TEST_CASE("pieces that touch are one, and no more are looked at than are asked for") {
    const Datatype& number = *Datatype::of(MPI_INT);
    const auto column = owned(make_vector(size_t{1} << 40, 1, 8, number));
    std::byte* const base = reinterpret_cast<std::byte*>(4096);
    iovec room[2];
    Pieces pieces = Data{base, 1, *column}.pieces((size_t{4} << 39) + 1, SIZE_MAX, room);
    CHECK(pieces.count == 2);
    CHECK(pieces.bytes == 7);
    CHECK(room[0].iov_base == base + (size_t{8} << 39) + 1);
    CHECK(room[0].iov_len == 3);
    CHECK(room[1].iov_base == base + (size_t{8} << 39) + 8);

    const Block neighbours[] = {{0, 1, &number}, {4, 2, Datatype::of(MPI_DOUBLE)}};
    const auto pair = owned(make_blocks(neighbours));
    pieces = Data{base, 3, *pair}.pieces(2, SIZE_MAX, std::span{room}.first(1));
    CHECK(pieces.count == 1);
    CHECK(pieces.bytes == 58);
    CHECK(room[0].iov_base == base + 2);
}

TEST_CASE("lists are what is simplest of what says the same") {
    using Kind = Layout::Kind;
    const LayoutRef number = Layout::run(1, 4);
    CHECK(Layout::list({{8, number, 0}, {0, number, 0}, {24, number, 0}})->kind() == Kind::places);
    const LayoutRef regular =
        Layout::list({{0, number, 0}, {8, Layout::run(1, 4), 0}, {16, number, 0}});
    CHECK(regular->kind() == Kind::repeat);
    CHECK(regular->stride() == 8);
    const LayoutRef elsewhere = Layout::list({{8, regular, 0}});
    CHECK(elsewhere->kind() == Kind::list);
    CHECK(elsewhere->begin() == 8);
    CHECK(Layout::list({{0, number, 0}, {8, Layout::run(2, 2), 0}, {16, number, 0}})->kind() ==
          Kind::list); // of other elements
    CHECK(Layout::list({{0, number, 0}, {4, number, 0}})->is_run());
}

TEST_CASE("a place of its own is told once, however deep what lies there") {
    using Kind = Layout::Kind;
    const LayoutRef number = Layout::list({{12, Layout::run(1, 4), 0}});
    const LayoutRef row = Layout::repeat(5, 100, Layout::list({{40, number, 0}}));
    REQUIRE(row->kind() == Kind::list);
    REQUIRE(row->parts().size() == 1);
    CHECK(row->parts()[0].at == 52);
    CHECK(row->parts()[0].layout->kind() == Kind::repeat);
    CHECK(row->parts()[0].layout->what()->is_run());

    // What is copied at a time of a part of an array with so many planes of so many rows.
    const Datatype& real = *Datatype::of(MPI_FLOAT);
    const Share planes{9, {{2, 4}}}, rows{30, {{1, 28}}}, points{70, {{3, 3}}};
    const auto part = owned(make_array_part(std::vector{planes, rows, points}, real));
    Batches visitor;
    part->layout()->visit(nullptr, 1, part->extent(), 0, part->size(), visitor);
    CHECK(visitor.batches == 1);
    CHECK(visitor.runs == 4 * 28);
    CHECK(visitor.pieces == 0);
}

TEST_CASE("neighbours are joined unless that makes short pieces of many sizes of one size") {
    using Kind = Layout::Kind;
    const auto listed = [](size_t bytes, std::initializer_list<ptrdiff_t> places) {
        std::vector<Layout::Part> parts;
        for (const ptrdiff_t place : places)
            parts.push_back({place * static_cast<ptrdiff_t>(bytes), Layout::run(bytes / 8, 8), 0});
        return Layout::list(std::move(parts));
    };
    const LayoutRef few = listed(8, {0, 3, 4, 9, 11});
    CHECK(few->kind() == Kind::places);
    CHECK(few->places().size() == 5);
    CHECK(few->what()->size() == 8);
    const LayoutRef most = listed(8, {0, 1, 2, 3, 9, 10, 11});
    CHECK(most->kind() == Kind::list);
    CHECK(most->parts().size() == 2);
    const LayoutRef pairs = listed(8, {0, 1, 4, 5, 10, 11});
    CHECK(pairs->kind() == Kind::places);
    CHECK(pairs->what()->size() == 16);
    const LayoutRef longer = listed(128, {0, 3, 4, 9, 11});
    CHECK(longer->kind() == Kind::list);
    CHECK(longer->parts().size() == 4);
}

TEST_CASE("elements that are alike lie where they were said to, however far apart") {
    constexpr ptrdiff_t kGiB = ptrdiff_t{1} << 30;
    auto* const somewhere = reinterpret_cast<std::byte*>(1024 * kGiB); // nobody looks there
    const auto check = [&](Layout::Kind kind, const std::vector<ptrdiff_t>& places) {
        CAPTURE(places);
        std::vector<Layout::Part> parts;
        for (const ptrdiff_t place : places) parts.push_back({place, Layout::run(1, 8), 0});
        const LayoutRef layout = Layout::list(std::move(parts));
        CHECK(layout->kind() == kind);
        CHECK(layout->begin() == std::ranges::min(places));
        CHECK(layout->end() == std::ranges::max(places) + 8);
        std::vector<ptrdiff_t> found;
        layout->for_each_piece(somewhere, 1, 0, 0, layout->size(), [&](std::byte* piece, size_t n) {
            CHECK(n == 8);
            found.push_back(piece - somewhere);
        });
        CHECK(found == places);
    };
    check(Layout::Kind::places, {3, 25, 14, -30, 100});
    check(Layout::Kind::places, {-2 * kGiB, 16, 2 * kGiB - 1});
    check(Layout::Kind::list, {0, 16, 2 * kGiB});
    check(Layout::Kind::list, {-2 * kGiB - 1, 0, 16, 100});
    check(Layout::Kind::repeat, {0, 2 * kGiB, 4 * kGiB});
}

TEST_CASE("of what lies over each other the last one counts, also among many that are alike") {
    const Block members[] = {{0, 1, Datatype::of(MPI_INT)}, {8, 2, Datatype::of(MPI_INT)}};
    const auto pair = owned(make_blocks(members));
    for (const ptrdiff_t extent : {4, 8, 12, 16, -4, -8, -12, -16}) {
        CAPTURE(extent);
        const auto type = owned(make_resized(*pair, 0, extent));
        constexpr size_t kCount = 20, kMiddle = kCount * 4, kEach = 3;
        std::vector<int> packed(kEach * kCount), memory(2 * kMiddle), expected(memory);
        std::iota(packed.begin(), packed.end(), 1);
        for (size_t i = 0; i < packed.size(); ++i) {
            const ptrdiff_t at = static_cast<ptrdiff_t>(i / kEach) * extent / 4 +
                                 static_cast<ptrdiff_t>(i % kEach == 0 ? 0 : 1 + i % kEach);
            expected[static_cast<size_t>(static_cast<ptrdiff_t>(kMiddle) + at)] = packed[i];
        }
        const Data data{reinterpret_cast<std::byte*>(&memory[kMiddle]), kCount, *type};
        data.unpack(0, std::as_bytes(std::span{packed}));
        CHECK(memory == expected);
    }
}
