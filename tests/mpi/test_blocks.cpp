// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Statistics of blocks, beside the blocks themselves.

#include "blocks.hpp"
#include "nestings.hpp"

#include <bit>
#include <doctest/doctest.h>

using namespace nestings;

namespace {

// One by one, as they are moved.
std::vector<uint64_t> blocks_one_by_one(const Data& data) {
    std::vector<uint64_t> lengths;
    for (size_t from = 0; from < data.bytes();) {
        iovec block;
        from += data.pieces(from, SIZE_MAX, {&block, 1}).bytes;
        lengths.push_back(block.iov_len);
    }
    std::ranges::sort(lengths);
    return lengths;
}

} // namespace

TEST_CASE("blocks are counted as they are moved, and their median is as long as one of them") {
    std::byte memory[1];
    for (unsigned seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        Maker maker{seed};
        const Pair what = maker.make(maker.number(0, 4));
        const Data data{memory, static_cast<size_t>(maker.number(0, 4)), *what.type};
        const std::vector<uint64_t> lengths = blocks_one_by_one(data);
        const Blocks blocks = blocks_of(data);
        REQUIRE(blocks.count == lengths.size());
        REQUIRE(blocks.bytes == data.bytes());
        if (lengths.empty()) {
            CHECK(blocks.mean() == 0);
            continue;
        }
        CHECK(blocks.mean() == data.bytes() / lengths.size());
        CHECK(std::bit_width(blocks.median) == std::bit_width(lengths[lengths.size() / 2]));
        CHECK(std::bit_width(blocks.smallest) == std::bit_width(lengths[0]));
        CHECK(blocks.smallest <= lengths[0]);
    }
}

TEST_CASE("a million blocks are counted as one is") {
    const Datatype& number = *Datatype::of(MPI_DOUBLE);
    const auto column = owned(make_vector(size_t{1} << 40, 3, 1000, number));
    Blocks blocks = blocks_of({nullptr, 2, *column});
    CHECK(blocks.count ==
          (uint64_t{1} << 41) - 1); // the second one begins where the first one ends
    CHECK(blocks.median == 24);
    CHECK(blocks.smallest == 24);
    CHECK(blocks.mean() == 24);

    // A few long ones among many short ones: the mean tells of these, the median does not.
    std::vector<Block> mixed;
    for (ptrdiff_t i = 0; i < 9; ++i)
        mixed.push_back({i * 100'000, i % 3 ? size_t{1} : size_t{10'000}, &number});
    blocks = blocks_of({nullptr, 1, *owned(make_blocks(mixed))});
    CHECK(blocks.count == 9);
    CHECK(blocks.median == 8);
    CHECK(blocks.mean() == (3 * 80'000 + 6 * 8) / 9);
    CHECK(blocks_of({nullptr, 1000, number}).count == 1);
}
