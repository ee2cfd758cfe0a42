// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whatever way is the quickest to copy pieces of a size and at a distance, they are copied.

#include "nestings.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace nestings;

namespace {

// Unpacked in two parts into memory of nothing, which is to be as expected then, and packed again.
void copy(const Data& data, size_t cut, const std::vector<std::byte>& packed,
          const std::vector<std::byte>& memory, const std::vector<std::byte>& expected) {
    data.unpack(0, std::span{packed}.first(cut));
    data.unpack(cut, std::span{packed}.subspan(cut));
    const bool is_as_expected = memory == expected;
    REQUIRE(is_as_expected);
    std::vector<std::byte> again(packed.size());
    data.pack(0, std::span{again}.first(cut));
    data.pack(cut, std::span{again}.subspan(cut));
    const bool is_the_same = again == packed;
    REQUIRE(is_the_same);
}

std::vector<std::byte> bytes_that_differ(size_t count) {
    std::vector<std::byte> all(count);
    for (size_t i = 0; i < count; ++i) all[i] = static_cast<std::byte>(1 + (i * 7 + i / 251) % 255);
    return all;
}

// So many blocks, each so far behind the one before.
void copy_blocks(size_t count, size_t length, size_t stride) {
    CAPTURE(count);
    CAPTURE(length);
    CAPTURE(stride);
    const auto type =
        owned(make_vector(count, length, static_cast<ptrdiff_t>(stride), *Datatype::of(MPI_BYTE)));
    const auto packed = bytes_that_differ(count * length);
    std::vector<std::byte> memory(count * stride), expected(memory);
    for (size_t i = 0; i < count; ++i)
        std::copy_n(packed.begin() + static_cast<ptrdiff_t>(i * length), length,
                    expected.begin() + static_cast<ptrdiff_t>(i * stride));
    copy({memory.data(), 1, *type}, packed.size() / 3 + 1, packed, memory, expected);
}

// Columns so far from each other, of pieces in so many rows.
void copy_columns(size_t columns, ptrdiff_t distance, size_t rows, ptrdiff_t stride,
                  size_t length) {
    CAPTURE(columns);
    CAPTURE(distance);
    CAPTURE(rows);
    CAPTURE(stride);
    CAPTURE(length);
    const auto column = owned(make_vector(rows, length, stride, *Datatype::of(MPI_BYTE)));
    const auto next_to_it = owned(make_resized(*column, 0, distance));
    const auto type = owned(make_contiguous(columns, *next_to_it));
    const auto packed = bytes_that_differ(type->size());
    const ptrdiff_t below = std::min<ptrdiff_t>(0, type->layout()->begin());
    std::vector<std::byte> memory(static_cast<size_t>(type->layout()->end() - below));
    std::vector<std::byte> expected(memory);
    for (size_t piece = 0; piece < columns * rows; ++piece)
        std::copy_n(packed.begin() + static_cast<ptrdiff_t>(piece * length), length,
                    expected.begin() - below + static_cast<ptrdiff_t>(piece / rows) * distance +
                        static_cast<ptrdiff_t>(piece % rows) * stride);
    copy({memory.data() - below, 1, *type}, packed.size() / 7 + 1, packed, memory, expected);
}

} // namespace

TEST_CASE("blocks of every size are copied, of small data and of what no cache holds") {
    for (const size_t most : {size_t{100} << 10, size_t{33} << 20})
        for (const size_t length :
             {1,  2,  3,  4,  7,   8,   12,  15,  16,  17,  24,  31,   32,
              33, 40, 48, 64, 100, 127, 128, 129, 511, 512, 600, 1000, 5000}) {
            if (most > (size_t{1} << 20) && length < 500) continue;
            copy_blocks(most / length, length, length + 3);
        }
}

TEST_CASE("blocks that want the same places of a cache are copied, however many they are") {
    for (const size_t stride : {2048, 3072, 4096})
        for (const size_t length : {1, 3, 4, 8, 20, 32, 33})
            for (const size_t count : {2, 7, 8, 9, 16, 17, 30}) copy_blocks(count, length, stride);
}

TEST_CASE("columns beside each other are copied, however many they are") {
    for (const ptrdiff_t distance : {1, 4, 8, 16, 24, 32, 33, 64})
        for (const size_t length : {1, 4, 8, 16, 24, 32}) {
            if (static_cast<ptrdiff_t>(length) > distance) continue;
            for (const size_t columns : {2, 3, 4, 9, 64})
                for (const size_t rows : {2, 7, 20})
                    for (const ptrdiff_t gap : {0, 5, 4096}) {
                        const ptrdiff_t stride = static_cast<ptrdiff_t>(columns) * distance + gap;
                        copy_columns(columns, distance, rows, stride, length);
                        copy_columns(columns, distance, rows, -stride, length);
                    }
        }
}
