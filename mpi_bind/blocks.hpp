// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

#include <array>
#include <memory>

// How long the pieces are that data lies in, by which a way to move it is chosen.
namespace odrc::mpi {

// Pieces that touch are one block. The median is exact where blocks between two powers of two are
// of one length, and otherwise their mean; the smallest is at most twice what it is said to be.
struct Blocks {
    uint64_t count;
    uint64_t bytes;
    uint64_t median;
    uint64_t smallest;

    uint64_t mean() const noexcept { return count > 0 ? bytes / count : 0; }
};

// The blocks of a layout, counted by the power of two that they are not below.
class BlockTally {
public:
    static BlockTally of(const Layout& layout);

    // One more, behind all others: it is part of the last one if it touches it.
    void add(ptrdiff_t at, size_t bytes) noexcept;
    void add(const BlockTally& others, ptrdiff_t at) noexcept;
    BlockTally repeated(size_t times, ptrdiff_t stride) const noexcept;
    Blocks blocks() const noexcept;

private:
    struct Block {
        ptrdiff_t at;
        size_t bytes;

        bool touches(ptrdiff_t next) const noexcept {
            return at + static_cast<ptrdiff_t>(bytes) == next;
        }
    };
    struct Bucket {
        uint64_t count{0};
        uint64_t bytes{0};
        uint64_t smallest{0}; // of those that have been in it

        void put(uint64_t times, uint64_t length) noexcept;
    };

    Bucket& bucket(size_t bytes) noexcept;
    void put(size_t bytes, uint64_t times) noexcept;
    void take_out(size_t bytes, uint64_t times) noexcept;
    void grow_last(size_t bytes) noexcept;

    std::array<Bucket, 64> buckets_;
    uint64_t count_{0};
    Block first_{0, 0};
    Block last_{0, 0};
};

// What a datatype knows of its blocks: of one, and of as many as were last asked for, which
// programs send and receive the same of time and again.
class KnownBlocks {
public:
    explicit KnownBlocks(const Datatype& type)
        : one_{BlockTally::of(*type.layout())}
        , extent_{type.extent()} {}

    const Blocks& of(size_t count) noexcept {
        if (count != count_) count_again(count);
        return blocks_;
    }

private:
    void count_again(size_t count) noexcept;

    const BlockTally one_;
    const ptrdiff_t extent_;
    size_t count_{0};
    Blocks blocks_{};
};

// Takes no longer for more data.
inline const Blocks& blocks_of(const Data& data) { return data.type->blocks().of(data.count); }

} // namespace odrc::mpi
