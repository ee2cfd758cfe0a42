// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tree.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace odrc::mpi;

TEST_CASE("in each tree everybody is reached once, from the root, by whom he thinks his parent") {
    for (const Tree tree : {Tree::binomial, Tree::binary, Tree::chain, Tree::knomial}) {
        for (int size = 1; size <= 70; ++size) {
            for (const int root : {0, size / 2, size - 1}) {
                std::vector<int> reached{root};
                for (size_t i = 0; i < reached.size(); ++i)
                    for (const int child : place_in(tree, reached[i], root, size).children) {
                        CHECK(place_in(tree, child, root, size).parent == reached[i]);
                        reached.push_back(child);
                    }
                std::ranges::sort(reached);
                REQUIRE(reached.size() == static_cast<size_t>(size));
                CHECK(std::ranges::adjacent_find(reached) == reached.end());
                CHECK(reached.front() == 0);
                CHECK(reached.back() == size - 1);
                CHECK_FALSE(place_in(tree, root, root, size).parent);
            }
        }
    }
}

TEST_CASE("trees are as deep and as broad as their names say") {
    const auto children = [](Tree tree, int size) {
        size_t most = 0;
        for (int rank = 0; rank < size; ++rank)
            most = std::max(most, place_in(tree, rank, 0, size).children.size());
        return most;
    };
    const auto depth = [](Tree tree, int rank, int size) {
        int steps = 0;
        for (auto place = place_in(tree, rank, 0, size); place.parent; ++steps)
            place = place_in(tree, *place.parent, 0, size);
        return steps;
    };
    CHECK(children(Tree::binomial, 64) == 6);
    CHECK(children(Tree::binary, 64) == 2);
    CHECK(children(Tree::chain, 64) == 1);
    CHECK(children(Tree::knomial, 64) == 9);
    CHECK(depth(Tree::binomial, 63, 64) == 6);
    CHECK(depth(Tree::binary, 62, 63) == 5);
    CHECK(depth(Tree::chain, 63, 64) == 63);
    CHECK(depth(Tree::knomial, 63, 64) == 3);
}

TEST_CASE("trees have names, and nothing else has") {
    CHECK(tree_named("binary") == Tree::binary);
    CHECK(tree_named("knomial") == Tree::knomial);
    CHECK_FALSE(tree_named("bin"));
    CHECK_FALSE(tree_named(""));
}
