// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <sys/uio.h>
#include <vector>

namespace odrc::mpi {

class Layout;
using LayoutRef = std::shared_ptr<const Layout>;

// So many pieces, and the bytes of all.
struct Pieces {
    size_t count;
    size_t bytes;
};

// Where the data of a datatype lies (the type map of MPI 4.1), in the order in which it is sent: a
// tree, whose size does not grow with the counts of vectors. Addresses are relative to that of the
// data; sizes are in bytes.
class Layout {
public:
    struct Part {
        ptrdiff_t at;
        LayoutRef layout;
        size_t before; // bytes of those before it
    };

    // So many basic elements of that size, one behind the other.
    static LayoutRef run(size_t elements, size_t element_size);
    // Others, from each to the next so far.
    static LayoutRef repeat(size_t count, ptrdiff_t stride, const LayoutRef& what);
    // Others, each at its place; `before` is filled in here.
    static LayoutRef list(std::vector<Part> parts);

    size_t size() const noexcept { return size_; }
    // The first byte, and behind the last; 0 and 0 of what is empty.
    ptrdiff_t begin() const noexcept { return begin_; }
    ptrdiff_t end() const noexcept { return end_; }
    // All in one piece, and in its order.
    bool is_run() const noexcept { return kind_ == Kind::run; }

    // Of `count` of them, `extent` apart: calls f(address, bytes) for each piece of the data from
    // byte `from` on, `bytes` in all.
    template <class F>
    void for_each_piece(std::byte* base, size_t count, ptrdiff_t extent, size_t from, size_t bytes,
                        F&& f) const {
        const auto visit = [&f](std::byte* piece, size_t n) {
            f(piece, n);
            return true;
        };
        walk_many(base, count, extent, from, bytes, visit);
    }
    // The next pieces of the same, those that touch in memory joined: at most that many bytes, and
    // no more than there is room for.
    Pieces pieces(std::byte* base, size_t count, ptrdiff_t extent, size_t from, size_t most_bytes,
                  std::span<iovec> into) const noexcept;
    // How many basic elements lie in the first bytes of one; a part of one counts as none.
    size_t elements_in(size_t bytes) const noexcept;
    bool ends_within_element(size_t bytes) const noexcept;

private:
    enum class Kind : uint8_t { run, repeat, list };

    Layout(Kind kind, size_t size, ptrdiff_t begin, ptrdiff_t end) noexcept
        : kind_{kind}
        , size_{size}
        , begin_{begin}
        , end_{end} {}

    // Both go on behind what is skipped, and stop when nothing is left, or when f says so, which
    // then has not taken its last piece: nothing is left from there on.
    template <class F>
    void walk(std::byte* base, size_t& skip, size_t& left, F& f) const {
        if (skip >= size_) {
            skip -= size_;
            return;
        }
        switch (kind_) {
        case Kind::run: {
            const size_t n = std::min(size_ - skip, left);
            if (n > 0) left = f(base + skip, n) ? left - n : 0;
            skip = 0;
            return;
        }
        case Kind::repeat:
            return what_->walk_many(base, count_, stride_, skip, left, f);
        case Kind::list: {
            auto part = std::ranges::upper_bound(parts_, skip, {}, &Part::before) - 1;
            skip -= part->before;
            for (; part != parts_.end() && left > 0; ++part)
                part->layout->walk(base + part->at, skip, left, f);
            return;
        }
        }
    }
    template <class F>
    void walk_many(std::byte* base, size_t count, ptrdiff_t stride, size_t& skip, size_t& left,
                   F& f) const {
        if (size_ == 0) return;
        if (is_run() && stride == static_cast<ptrdiff_t>(size_)) { // one piece of all
            const size_t all = count * size_;
            const size_t n = std::min(all - std::min(all, skip), left);
            if (n > 0) left = f(base + skip, n) ? left - n : 0;
            skip = 0;
            return;
        }
        size_t i = skip / size_;
        skip -= i * size_;
        if (is_run() && skip == 0) // most vectors: whole pieces, as many as there are
            for (; i < count && left >= size_; ++i)
                left = f(base + static_cast<ptrdiff_t>(i) * stride, size_) ? left - size_ : 0;
        for (; i < count && left > 0; ++i)
            walk(base + static_cast<ptrdiff_t>(i) * stride, skip, left, f);
    }

    Kind kind_;
    size_t size_;
    ptrdiff_t begin_;
    ptrdiff_t end_;
    size_t count_{0};         // run: elements; repeat: of what
    ptrdiff_t stride_{0};     // repeat
    LayoutRef what_;          // repeat
    std::vector<Part> parts_; // list
};

} // namespace odrc::mpi
