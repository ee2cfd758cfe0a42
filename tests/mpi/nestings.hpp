// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Random datatypes of any nesting, beside their type maps as MPI 4.1 writes them down: lists of all
// basic elements.

#include "types.hpp"

#include <optional>
#include <random>

namespace nestings {

using namespace odrc::mpi;

struct Element {
    ptrdiff_t at;
    size_t size;
};

// A type, and what it has to be.
struct Pair {
    std::shared_ptr<Datatype> type;
    std::vector<Element> map;
    ptrdiff_t lb, ub;
};

inline std::shared_ptr<Datatype> owned(Datatype* type) {
    return {type, [](Datatype* t) { t->release(); }};
}

class Maker {
public:
    explicit Maker(unsigned seed)
        : random_{seed} {}

    Pair make(int depth) {
        if (depth == 0) return basic();
        switch (number(0, 5)) {
        case 0:
            return contiguous(make(depth - 1));
        case 1:
            return vector(make(depth - 1));
        case 2:
            return indexed(make(depth - 1));
        case 3:
            return structure(make(depth - 1), make(depth - 1));
        case 4:
            return resized(make(depth - 1));
        default:
            return part_of_array(make(depth - 1));
        }
    }
    int number(int least, int most) {
        return std::uniform_int_distribution<int>{least, most}(random_);
    }

private:
    Pair basic() {
        const MPI_Datatype kinds[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
        Datatype* type = Datatype::of(kinds[number(0, 3)]);
        type->use();
        return {owned(type), {{0, type->size()}}, 0, static_cast<ptrdiff_t>(type->size())};
    }
    // So many more of a type at a place, by the book.
    struct Placing {
        std::vector<Element> map;
        std::optional<std::pair<ptrdiff_t, ptrdiff_t>> bounds;

        void put(const Pair& what, ptrdiff_t at, int count) {
            for (int i = 0; i < count; ++i, at += what.ub - what.lb) {
                for (const Element& e : what.map) map.push_back({at + e.at, e.size});
                const auto low = at + what.lb, high = at + what.ub;
                if (!bounds) bounds = {low, high};
                bounds = {std::min(bounds->first, low), std::max(bounds->second, high)};
            }
        }
        Pair with(Datatype* type) {
            const auto [lb, ub] = bounds.value_or(std::pair<ptrdiff_t, ptrdiff_t>{0, 0});
            return {owned(type), std::move(map), lb, ub};
        }
    };
    Pair contiguous(const Pair& of) {
        const int count = number(0, 4);
        Placing placing;
        placing.put(of, 0, count);
        return placing.with(make_contiguous(static_cast<size_t>(count), *of.type));
    }
    Pair vector(const Pair& of) {
        const int count = number(0, 4), length = number(0, 3);
        const ptrdiff_t stride = number(-60, 60);
        Placing placing;
        for (int i = 0; i < count; ++i) placing.put(of, i * stride, length);
        return placing.with(
            make_vector(static_cast<size_t>(count), static_cast<size_t>(length), stride, *of.type));
    }
    Pair indexed(const Pair& of) {
        std::vector<Block> blocks;
        Placing placing;
        for (int i = number(0, 4); i > 0; --i) {
            const ptrdiff_t at = number(-100, 100);
            const int length = number(0, 3);
            blocks.push_back({at, static_cast<size_t>(length), of.type.get()});
            placing.put(of, at, length);
        }
        return placing.with(make_blocks(blocks));
    }
    Pair structure(const Pair& one, const Pair& other) {
        std::vector<Block> blocks;
        Placing placing;
        for (const Pair* part : {&one, &other, &one}) {
            const ptrdiff_t at = number(-100, 100);
            const int length = number(0, 2);
            blocks.push_back({at, static_cast<size_t>(length), part->type.get()});
            placing.put(*part, at, length);
        }
        // Its alignment is the library's to say; that the extent has it is the rule.
        Pair made = placing.with(make_struct(blocks));
        const auto alignment = static_cast<ptrdiff_t>(made.type->alignment());
        while ((made.ub - made.lb) % alignment != 0) ++made.ub;
        return made;
    }
    Pair resized(const Pair& of) {
        const ptrdiff_t lb = number(-20, 20), extent = number(0, 100);
        return {owned(make_resized(*of.type, lb, extent)), of.map, lb, lb + extent};
    }
    Pair part_of_array(const Pair& of) {
        const int rows = number(1, 4), columns = number(1, 4);
        const int from_row = number(0, rows - 1), from_column = number(0, columns - 1);
        const int some_rows = number(1, rows - from_row), some = number(1, columns - from_column);
        const ptrdiff_t extent = of.ub - of.lb;
        std::vector<Element> map;
        for (int r = from_row; r < from_row + some_rows; ++r)
            for (int c = from_column; c < from_column + some; ++c)
                for (const Element& e : of.map)
                    map.push_back({(r * columns + c) * extent + e.at, e.size});
        const auto size = [](int n) { return static_cast<size_t>(n); };
        const Share shares[] = {{size(rows), {{size(from_row), size(some_rows)}}},
                                {size(columns), {{size(from_column), size(some)}}}};
        return {owned(make_array_part(shares, *of.type)), std::move(map), 0,
                rows * columns * extent};
    }

    std::mt19937 random_;
};

} // namespace nestings
