// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/multicast_tree.hpp"

namespace odrc::transfer {
namespace {

// The members behind the root, in a circle, are numbered from it on: these are the numbers of a
// member's parent and children. 64 bits, in which nothing overflows.
struct Numbers {
    uint64_t parent{0};
    std::vector<uint64_t> children{};
};

// As in a heap.
Numbers binary(uint64_t v) { return {.parent = (v - 1) / 2, .children = {2 * v + 1, 2 * v + 2}}; }

Numbers chain(uint64_t v) { return {.parent = v - 1, .children = {v + 1}}; }

// Written to the base of the radix, the parent is the number without its last digit that is not
// zero; the children have one more, in a place behind it.
Numbers nomial(uint64_t radix, uint64_t v, uint64_t size) {
    uint64_t place = 1;
    while (place < size && v / place % radix == 0) place *= radix;
    Numbers numbers;
    numbers.parent = v - v / place % radix * place;
    for (place /= radix; place > 0; place /= radix)
        for (uint64_t digit = 1; digit < radix; ++digit)
            numbers.children.push_back(v + digit * place);
    return numbers;
}

Numbers numbers_in(Tree tree, uint64_t v, uint64_t size) {
    switch (tree) {
    case Tree::binary:
        return binary(v);
    case Tree::binomial:
        return nomial(2, v, size);
    case Tree::knomial:
        return nomial(kRadix, v, size);
    case Tree::chain:
        return chain(v);
    }
    return {};
}

} // namespace

Place place_in(Tree tree, uint32_t rank, uint32_t root, uint32_t size) {
    const uint64_t v = (uint64_t{rank} + size - root) % size;
    const auto rank_of = [&](uint64_t number) {
        return static_cast<uint32_t>((number + root) % size);
    };
    const Numbers numbers = numbers_in(tree, v, size);
    Place place;
    if (v > 0) place.parent = rank_of(numbers.parent);
    for (const uint64_t child : numbers.children)
        if (child < size) place.children.push_back(rank_of(child));
    return place;
}

} // namespace odrc::transfer
