// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tree.hpp"

namespace odrc::mpi {
namespace {

constexpr int kRadix = 4; // of the k-nomial tree

// Ranks here are relative to the root's. In a tree of radix k the children of r are those that
// have one digit more in front of it; the ones with most below them come first.
Place nomial(int radix, int rank, int size) {
    Place place;
    int digit = 1;
    while (digit <= rank) digit *= radix; // above the first digit of the rank
    if (rank > 0) place.parent = rank % (digit / radix);
    for (; digit < size; digit *= radix)
        for (int i = 1; i < radix && rank + i * digit < size; ++i)
            place.children.push_back(rank + i * digit);
    return place;
}

Place binary(int rank, int size) {
    Place place;
    if (rank > 0) place.parent = (rank - 1) / 2;
    for (const int child : {2 * rank + 1, 2 * rank + 2})
        if (child < size) place.children.push_back(child);
    return place;
}

Place chain(int rank, int size) {
    Place place;
    if (rank > 0) place.parent = rank - 1;
    if (rank + 1 < size) place.children.push_back(rank + 1);
    return place;
}

Place place_at(Tree tree, int rank, int size) {
    switch (tree) {
    case Tree::binomial:
        return nomial(2, rank, size);
    case Tree::knomial:
        return nomial(kRadix, rank, size);
    case Tree::binary:
        return binary(rank, size);
    case Tree::chain:
        break;
    }
    return chain(rank, size);
}

} // namespace

std::optional<Tree> tree_named(std::string_view name) noexcept {
    if (name == "binomial") return Tree::binomial;
    if (name == "binary") return Tree::binary;
    if (name == "chain") return Tree::chain;
    if (name == "knomial") return Tree::knomial;
    return std::nullopt;
}

Place place_in(Tree tree, int rank, int root, int size) {
    Place place = place_at(tree, (rank - root + size) % size, size);
    const auto absolute = [&](int relative) { return (relative + root) % size; };
    if (place.parent) place.parent = absolute(*place.parent);
    for (int& child : place.children) child = absolute(child);
    return place;
}

} // namespace odrc::mpi
