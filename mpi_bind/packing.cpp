// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "datatype.hpp"
#include "typed_copy.hpp"

namespace odrc::mpi {
namespace {

// The packed side of a copy, which goes on from piece to piece.
class Packing {
public:
    static constexpr size_t kRivals = kRivalsRead;
    static void settle() noexcept { settle_reads(); }

    explicit Packing(std::byte* to) noexcept
        : to_{to} {}

    template <class N>
    void operator()(const std::byte* piece, N n) noexcept {
        copy(to_, piece, n);
        to_ += n;
    }
    Packing ahead(size_t bytes) const noexcept { return Packing{to_ + bytes}; }

private:
    std::byte* to_;
};

enum class Memory { near, far };

template <Memory M>
class Unpacking {
public:
    static constexpr size_t kRivals = kRivalsWritten;
    static void settle() noexcept { settle_writes(); }

    explicit Unpacking(const std::byte* from) noexcept
        : from_{from} {}

    template <class N>
    void operator()(std::byte* piece, N n) noexcept {
        if constexpr (M == Memory::far && std::is_same_v<N, size_t>)
            stream(piece, from_, n);
        else
            copy(piece, from_, n);
        from_ += n;
    }
    Unpacking ahead(size_t bytes) const noexcept { return Unpacking{from_ + bytes}; }

private:
    const std::byte* from_;
};

// What a layout is visited with.
template <class Side>
class Copier {
public:
    explicit Copier(Side side) noexcept
        : side_{side} {}

    bool operator()(std::byte* piece, size_t n) noexcept {
        side_(piece, n);
        return true;
    }
    template <class Places>
    void operator()(std::byte* base, const Places& at, const Layout& what) noexcept {
        if (what.is_run())
            with_size(what.size(), [this, base, &at](auto n) { this->copy_runs(base, at, n); });
        else if (what.kind() == Layout::Kind::repeat)
            with_size(what.what()->size(), [this, base, &at, &what](auto n) {
                this->copy_rows(base, at, what.count(), what.stride(), n);
            });
        else if (!copy_columns(base, at, what))
            copy_lists(base, at, what);
    }

private:
    // All have the side in a copy of their own, which stays in a register: any byte that is copied
    // might be one of this object.
    template <class Places, class N>
    void copy_runs(std::byte* base, const Places at, N n) noexcept {
        if constexpr (requires { at.stride; }) {
            Side side = side_;
            copy_row(side, base + at[0], at.size(), at.stride, n);
            side_ = side;
        } else {
            side_ = copy_each(side_, at.size(), n, [base, at](size_t i) { return base + at[i]; });
        }
    }
    template <class Places, class N>
    void copy_rows(std::byte* base, const Places at, size_t count, ptrdiff_t stride, N n) noexcept {
        if constexpr (requires { at.stride; })
            if (are_side_by_side(at, stride, n))
                return copy_side_by_side(base, at, count, stride, n);
        Side side = side_;
        for (size_t i = 0; i < at.size(); ++i) copy_row(side, base + at[i], count, stride, n);
        side_ = side;
    }
    // Rows of which all first pieces lie in a few lines, and so do all second ones, and so on, as
    // where a matrix is transposed: as many rows at a time as there are in a line, piece by piece,
    // so that each line is met once.
    template <class Places>
    static bool are_side_by_side(const Places& at, ptrdiff_t stride, size_t n) noexcept {
        constexpr auto line = static_cast<ptrdiff_t>(kLine);
        const auto piece = static_cast<ptrdiff_t>(n), rows = static_cast<ptrdiff_t>(at.size());
        return rows > 1 && at.stride >= piece && 2 * at.stride <= line &&
               std::abs(stride) >= std::max(line, rows * at.stride);
    }
    template <class Places, class N>
    void copy_side_by_side(std::byte* base, const Places at, size_t count, ptrdiff_t stride,
                           N n) noexcept {
        const size_t row = count * n, together = kLine / static_cast<size_t>(at.stride);
        for (size_t first = 0; first < at.size(); first += together) {
            const size_t rows = std::min(together, at.size() - first);
            const Side side = side_;
            std::byte* place = base + at[first];
            for (size_t i = 0; i < count; ++i, place += stride)
                for (size_t k = 0; k < rows; ++k) {
                    Side here = side.ahead(k * row + i * n);
                    here(place + static_cast<ptrdiff_t>(k) * at.stride, n);
                }
            side_ = side_.ahead(rows * row);
        }
    }
    template <class N>
    static void copy_row(Side& side, std::byte* piece, size_t count, ptrdiff_t stride,
                         N n) noexcept {
        if (!are_rivals(stride, n)) {
            side = copy_each(side, count, n, [piece, stride](size_t i) {
                return piece + static_cast<ptrdiff_t>(i) * stride;
            });
            return;
        }
        const auto copy_some = [&](size_t some) {
            for (; some > 0; --some, piece += stride) side(piece, n);
        };
        for (; count > Side::kRivals; count -= Side::kRivals) {
            copy_some(Side::kRivals);
            Side::settle();
        }
        copy_some(count);
    }
    // Pieces at place(0), place(1) ... A function of its own, four at a time: together with others
    // there are more loops than registers, and one of few instructions whose end lies in memory
    // takes half as long again, or twice as long where it happens to lie across lines of the cache.
    template <class N, class Place>
    [[gnu::noinline]] static Side copy_each(Side side, size_t count, N n,
                                            const Place place) noexcept {
        size_t i = 0;
        for (; i + 4 <= count; i += 4) {
            side(place(i), n);
            side(place(i + 1), n);
            side(place(i + 2), n);
            side(place(i + 3), n);
        }
        for (; i < count; ++i) side(place(i), n);
        return side;
    }
    // Many short lists, of each of a few of them all first pieces, then all second ones: of one
    // size at a time. False if they are none, or lie over each other, where their order counts.
    template <class Places>
    bool copy_columns(std::byte* base, const Places& at, const Layout& list) noexcept {
        constexpr size_t kAtATime = 8192; // bytes, which stay in the nearest cache
        const size_t few = kAtATime / list.size();
        if (few < 8 || at.size() < 8 || !are_apart(at, list)) return false;
        const auto parts = list.parts();
        for (size_t first = 0; first < at.size(); first += few) {
            const size_t count = std::min(few, at.size() - first);
            for (const Layout::Part& part : parts)
                with_size(part.layout->size(), [&](auto n) {
                    Side side = side_.ahead(part.before);
                    for (size_t i = first; i < first + count; ++i) {
                        side(base + at[i] + part.at, n);
                        side = side.ahead(list.size() - n);
                    }
                });
            side_ = side_.ahead(count * list.size());
        }
        return true;
    }
    template <class Places>
    static bool are_apart(const Places& at, const Layout& list) noexcept {
        if constexpr (requires { at.stride; })
            return std::abs(at.stride) >= list.end() - list.begin();
        else
            return false;
    }
    template <class Places>
    void copy_lists(std::byte* base, const Places at, const Layout& list) noexcept {
        Side side = side_;
        const Layout::Part* const first = list.parts().data();
        const Layout::Part* const last = &list.parts().back();
        const size_t last_bytes = list.size() - last->before;
        for (size_t i = 0; i < at.size(); ++i) {
            std::byte* const here = base + at[i];
            for (const Layout::Part* part = first; part != last; ++part)
                side(here + part->at, part[1].before - part->before);
            side(here + last->at, last_bytes);
        }
        side_ = side;
    }

    Side side_;
};

} // namespace

void Data::pack(size_t from, std::span<std::byte> out) const noexcept {
    type->layout()->visit(address, count, type->extent(), from, out.size(),
                          Copier{Packing{out.data()}});
}

void Data::unpack(size_t from, std::span<const std::byte> in) const noexcept {
    constexpr size_t kFar = size_t{32} << 20; // more than a core's share of a cache
    const auto unpack = [&](auto side) {
        type->layout()->visit(address, count, type->extent(), from, in.size(), Copier{side});
    };
    if (bytes() < kFar) return unpack(Unpacking<Memory::near>{in.data()});
    unpack(Unpacking<Memory::far>{in.data()});
    fence_streams();
}

} // namespace odrc::mpi
