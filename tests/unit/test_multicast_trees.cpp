// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/multicast_tree.hpp"

#include <algorithm>
#include <bit>
#include <doctest/doctest.h>
#include <vector>

using namespace odrc::transfer;

namespace {

constexpr uint32_t kMost = 64;

// What a tree looks like as a whole, for somebody who goes from parents to children.
struct Shape {
    Shape(Tree tree, uint32_t root, uint32_t size)
        : depth_of(size)
        , reached(size) {
        std::vector<uint32_t> front{root};
        reached[root] = 1;
        while (!front.empty()) {
            std::vector<uint32_t> next;
            for (const uint32_t rank : front) {
                const Place place = place_in(tree, rank, root, size);
                parents_agree = parents_agree && place.parent.has_value() == (rank != root);
                most_children = std::max(most_children, place.children.size());
                for (const uint32_t child : place.children) {
                    REQUIRE(child < size);
                    ++reached[child];
                    depth_of[child] = depth_of[rank] + 1;
                    depth = std::max(depth, depth_of[child]);
                    parents_agree =
                        parents_agree && place_in(tree, child, root, size).parent == rank;
                    next.push_back(child);
                }
            }
            REQUIRE(next.size() <= size);
            front = std::move(next);
        }
    }
    bool reaches_each_once() const {
        return std::ranges::all_of(reached, [](uint32_t n) { return n == 1; });
    }

    std::vector<uint32_t> depth_of, reached;
    uint32_t depth{0};
    size_t most_children{0};
    bool parents_agree{true};
};

// The least l for which that base to the power of l is size or more.
uint32_t log_up(uint32_t base, uint32_t size) {
    uint32_t l = 0;
    for (uint64_t power = 1; power < size; power *= base) ++l;
    return l;
}

// How many steps and children a tree promises at the most.
uint32_t most_steps(Tree tree, uint32_t size) {
    switch (tree) {
    case Tree::binary:
        return static_cast<uint32_t>(std::bit_width(size)) - 1;
    case Tree::binomial:
        return log_up(2, size);
    case Tree::knomial:
        return log_up(kRadix, size);
    case Tree::chain:
        return size - 1;
    }
    return 0;
}
uint32_t most_children(Tree tree, uint32_t size) {
    switch (tree) {
    case Tree::binary:
        return 2;
    case Tree::binomial:
        return log_up(2, size);
    case Tree::knomial:
        return (kRadix - 1) * log_up(kRadix, size);
    case Tree::chain:
        return 1;
    }
    return 0;
}

} // namespace

TEST_CASE("every tree reaches each member once, whoever its root, within the steps it promises") {
    for (uint8_t t = 0; t < kTrees; ++t) {
        const Tree tree{t};
        for (uint32_t size = 1; size <= kMost; ++size) {
            for (uint32_t root = 0; root < size; ++root) {
                CAPTURE(int{t});
                CAPTURE(size);
                CAPTURE(root);
                const Shape shape{tree, root, size};
                CHECK(shape.reaches_each_once());
                CHECK(shape.parents_agree);
                CHECK(shape.depth <= most_steps(tree, size));
                CHECK(shape.most_children <= most_children(tree, size));
            }
        }
    }
}

TEST_CASE("a full tree takes all the steps that it may") {
    CHECK(Shape{Tree::binary, 0, 63}.depth == 5);
    CHECK(Shape{Tree::binomial, 0, 64}.depth == 6);
    CHECK(Shape{Tree::binomial, 0, 64}.most_children == 6);
    CHECK(Shape{Tree::knomial, 0, 64}.depth == 3);
    CHECK(Shape{Tree::knomial, 0, 64}.most_children == 9);
    CHECK(Shape{Tree::chain, 0, 64}.depth == 63);
}

TEST_CASE("the child with the most below it comes first") {
    CHECK(place_in(Tree::binomial, 0, 0, 8).children == std::vector<uint32_t>{4, 2, 1});
    CHECK(place_in(Tree::binomial, 3, 3, 8).children == std::vector<uint32_t>{7, 5, 4});
    CHECK(place_in(Tree::knomial, 0, 0, 16).children == std::vector<uint32_t>{4, 8, 12, 1, 2, 3});
}

TEST_CASE("groups may be as large as ranks are") {
    constexpr uint32_t size = UINT32_MAX;
    CHECK(place_in(Tree::binary, size - 1, 0, size).children.empty());
    CHECK(place_in(Tree::binary, 0, size - 1, size).children == std::vector<uint32_t>{2, 3});
    CHECK(place_in(Tree::binomial, 0, 0, size).children.size() == 32);
    CHECK(place_in(Tree::chain, size - 1, 0, size).parent == size - 2);
}
