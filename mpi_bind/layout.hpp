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
    enum class Kind : uint8_t {
        run,    // basic elements, one behind the other
        repeat, // others, from each to the next so far
        places, // others that are all alike, each at its place, which is not far
        list,   // others, each at its place
    };
    struct Part {
        ptrdiff_t at;
        LayoutRef layout;
        size_t before; // bytes of those before it
    };

    static LayoutRef run(size_t elements, size_t element_size);
    static LayoutRef repeat(size_t count, ptrdiff_t stride, const LayoutRef& what);
    // `before` is filled in here. What is made of it may be of any kind: the simplest that says it.
    static LayoutRef list(std::vector<Part> parts);

    Kind kind() const noexcept { return kind_; }
    size_t size() const noexcept { return size_; }
    // The first byte, and behind the last; 0 and 0 of what is empty.
    ptrdiff_t begin() const noexcept { return begin_; }
    ptrdiff_t end() const noexcept { return end_; }
    // All in one piece, and in its order.
    bool is_run() const noexcept { return kind_ == Kind::run; }
    // Not empty, and a run, runs at regular places, or a list of runs.
    bool is_flat() const noexcept { return is_flat_; }

    size_t count() const noexcept { return count_; }      // run: elements; repeat, places: of what
    ptrdiff_t stride() const noexcept { return stride_; } // repeat
    const LayoutRef& what() const noexcept { return what_; } // repeat, places
    // Places: half as long as addresses, for they are read as often as what lies there, and fill
    // caches as that does.
    std::span<const int32_t> places() const noexcept { return places_; }
    std::span<const Part> parts() const noexcept { return parts_; } // list

    // Of `count` of them, `extent` apart: calls f(address, bytes) for each piece of the data from
    // byte `from` on, `bytes` in all, until it says false: it has not taken that piece then. Where
    // f can be called so, it is f(base, at, layout) for all of many that are flat and alike, each
    // at[i] from the base.
    template <class F>
    void visit(std::byte* base, size_t count, ptrdiff_t extent, size_t from, size_t bytes,
               F&& f) const {
        if (size_ == 0) return;
        if (!is_run() || extent != static_cast<ptrdiff_t>(size_))
            return walk_many(base, Row{count, extent}, from, bytes, f);
        const size_t all = count * size_; // in one piece
        const size_t n = std::min(all - std::min(all, from), bytes);
        if (n > 0) f(base + from, n);
    }
    // The same, all of it.
    template <class F>
    void for_each_piece(std::byte* base, size_t count, ptrdiff_t extent, size_t from, size_t bytes,
                        F&& f) const {
        visit(base, count, extent, from, bytes, [&f](std::byte* piece, size_t n) {
            f(piece, n);
            return true;
        });
    }
    // The next pieces of the same, those that touch in memory joined: at most that many bytes, and
    // no more than there is room for.
    Pieces pieces(std::byte* base, size_t count, ptrdiff_t extent, size_t from, size_t most_bytes,
                  std::span<iovec> into) const noexcept;
    // How many basic elements lie in the first bytes of one; a part of one counts as none.
    size_t elements_in(size_t bytes) const noexcept;
    bool ends_within_element(size_t bytes) const noexcept;

private:
    // Places as regular as that.
    struct Row {
        size_t count;
        ptrdiff_t stride;
        size_t first{0};

        size_t size() const noexcept { return count; }
        ptrdiff_t operator[](size_t i) const noexcept {
            return static_cast<ptrdiff_t>(first + i) * stride;
        }
        Row subspan(size_t i, size_t n) const noexcept { return {n, stride, first + i}; }
    };

    Layout(Kind kind, size_t size, ptrdiff_t begin, ptrdiff_t end) noexcept
        : kind_{kind}
        , size_{size}
        , begin_{begin}
        , end_{end} {}

    // What there is is one other, at a place of its own.
    bool is_moved() const noexcept { return kind_ == Kind::list && parts_.size() == 1; }

    // Neighbours of elements alike become one piece.
    static std::vector<Part> join(const std::vector<Part>& parts);
    static bool are_alike(std::span<const Part> parts) noexcept;
    // Two or more that are. Null: they are too far from the data's address.
    static LayoutRef alike(std::span<const Part> parts);

    // All of these go on behind what is skipped, and stop when nothing is left: also when f says
    // so.
    template <class F>
    void walk(std::byte* base, size_t& skip, size_t& left, F& f) const {
        if (skip >= size_)
            skip -= size_;
        else if (is_run())
            walk_run(base, skip, left, f);
        else
            walk_tree(base, skip, left, f);
    }
    template <class F>
    void walk_run(std::byte* base, size_t& skip, size_t& left, F& f) const {
        const size_t n = std::min(size_ - skip, left);
        if (n > 0) left = f(base + skip, n) ? left - n : 0;
        skip = 0;
    }
    template <class F>
    void walk_tree(std::byte* base, size_t& skip, size_t& left, F& f) const {
        if (kind_ == Kind::repeat)
            return what_->walk_many(base, Row{count_, stride_}, skip, left, f);
        if (kind_ == Kind::places) return what_->walk_many(base, places(), skip, left, f);
        if constexpr (requires { f(base, Row{1, 0}, *this); })
            if (is_flat_ && skip == 0 && left >= size_) {
                f(base, Row{1, 0}, *this);
                left -= size_;
                return;
            }
        auto part = parts_.begin();
        if (skip > 0) part = std::ranges::upper_bound(parts_, skip, {}, &Part::before) - 1;
        skip -= part->before;
        for (; part != parts_.end() && left > 0; ++part)
            part->layout->walk(base + part->at, skip, left, f);
    }
    template <class Places, class F>
    void walk_many(std::byte* base, const Places& places, size_t& skip, size_t& left, F& f) const {
        size_t i = 0;
        if (skip > 0) {
            i = skip / size_;
            skip -= i * size_;
            if (i < places.size() && skip > 0) walk(base + places[i++], skip, left, f);
        }
        if constexpr (requires { f(base, places, *this); })
            if (is_flat_ && i < places.size()) {
                const size_t whole = std::min(places.size() - i, left / size_);
                f(base, places.subspan(i, whole), *this);
                left -= whole * size_;
                i += whole;
            }
        for (; i < places.size() && left > 0; ++i) walk(base + places[i], skip, left, f);
    }

    Kind kind_;
    bool is_flat_{false};
    size_t size_;
    ptrdiff_t begin_;
    ptrdiff_t end_;
    size_t count_{0};
    ptrdiff_t stride_{0};
    LayoutRef what_;
    std::vector<int32_t> places_;
    std::vector<Part> parts_;
};

} // namespace odrc::mpi
