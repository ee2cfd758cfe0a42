// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "blocks.hpp"

#include <bit>
#include <unordered_map>

namespace odrc::mpi {
namespace {

// Counts what layouts have in common once: a tree with shared nodes may be much larger than it is
// told in.
class Counter {
public:
    const BlockTally& of(const Layout& layout) {
        const auto known = tallies_.find(&layout);
        if (known != tallies_.end()) return known->second;
        const BlockTally tally = count(layout);
        return tallies_.emplace(&layout, tally).first->second;
    }

private:
    BlockTally count(const Layout& layout) {
        BlockTally tally;
        switch (layout.kind()) {
        case Layout::Kind::run:
            if (layout.size() > 0) tally.add(0, layout.size());
            return tally;
        case Layout::Kind::repeat:
            return of(*layout.what()).repeated(layout.count(), layout.stride());
        case Layout::Kind::places:
            for (const ptrdiff_t at : layout.places()) add(tally, at, *layout.what());
            return tally;
        case Layout::Kind::list:
            for (const Layout::Part& part : layout.parts()) add(tally, part.at, *part.layout);
            return tally;
        }
        return tally;
    }
    void add(BlockTally& tally, ptrdiff_t at, const Layout& what) {
        if (what.is_run())
            tally.add(at, what.size());
        else
            tally.add(of(what), at);
    }

    std::unordered_map<const Layout*, BlockTally> tallies_;
};

} // namespace

BlockTally BlockTally::of(const Layout& layout) { return Counter{}.of(layout); }

void BlockTally::add(ptrdiff_t at, size_t bytes) noexcept {
    if (count_ > 0 && last_.touches(at)) return grow_last(bytes);
    put(bytes, 1);
    last_ = {at, bytes};
    if (count_ == 1) first_ = last_;
}

void BlockTally::add(const BlockTally& others, ptrdiff_t at) noexcept {
    if (others.count_ == 0) return;
    const Block first{others.first_.at + at, others.first_.bytes};
    if (others.count_ == 1) return add(first.at, first.bytes);
    const bool touches = count_ > 0 && last_.touches(first.at);
    if (touches) grow_last(first.bytes);
    if (count_ == 0) first_ = first;
    for (size_t i = 0; i < buckets_.size(); ++i) {
        const Bucket& more = others.buckets_[i];
        if (more.count == 0) continue;
        buckets_[i].put(more.count, more.smallest);
        buckets_[i].bytes += more.bytes - more.count * more.smallest;
    }
    count_ += others.count_;
    if (touches) take_out(first.bytes, 1);
    last_ = {others.last_.at + at, others.last_.bytes};
}

BlockTally BlockTally::repeated(size_t times, ptrdiff_t stride) const noexcept {
    BlockTally all = *this;
    if (count_ == 0 || times <= 1) return times == 0 ? BlockTally{} : all;
    const bool touches = last_.touches(first_.at + stride);
    if (touches && count_ == 1) {
        all.grow_last((times - 1) * first_.bytes);
        return all;
    }
    for (Bucket& bucket : all.buckets_) {
        bucket.count *= times;
        bucket.bytes *= times;
    }
    all.count_ *= times;
    all.last_.at += static_cast<ptrdiff_t>(times - 1) * stride;
    if (touches) { // the last of each and the first of the next are one
        all.put(last_.bytes + first_.bytes, times - 1);
        all.take_out(last_.bytes, times - 1);
        all.take_out(first_.bytes, times - 1);
    }
    return all;
}

Blocks BlockTally::blocks() const noexcept {
    Blocks blocks{count_, 0, 0, 0};
    uint64_t seen = 0;
    for (const Bucket& bucket : buckets_) {
        if (bucket.count == 0) continue;
        if (seen == 0) blocks.smallest = bucket.smallest;
        if (seen <= count_ / 2) blocks.median = bucket.bytes / bucket.count;
        seen += bucket.count;
        blocks.bytes += bucket.bytes;
    }
    return blocks;
}

void BlockTally::Bucket::put(uint64_t times, uint64_t length) noexcept {
    smallest = count == 0 ? length : std::min(smallest, length);
    count += times;
    bytes += times * length;
}

BlockTally::Bucket& BlockTally::bucket(size_t bytes) noexcept {
    return buckets_[static_cast<size_t>(std::bit_width(bytes)) - 1];
}

void BlockTally::put(size_t bytes, uint64_t times) noexcept {
    bucket(bytes).put(times, bytes);
    count_ += times;
}

void BlockTally::take_out(size_t bytes, uint64_t times) noexcept {
    Bucket& from = bucket(bytes);
    from.count -= times;
    from.bytes -= times * bytes;
    count_ -= times;
}

void BlockTally::grow_last(size_t bytes) noexcept {
    take_out(last_.bytes, 1);
    last_.bytes += bytes;
    put(last_.bytes, 1);
    if (count_ == 1) first_ = last_;
}

void KnownBlocks::count_again(size_t count) noexcept {
    blocks_ = (count == 1 ? one_ : one_.repeated(count, extent_)).blocks();
    count_ = count;
}

} // namespace odrc::mpi
