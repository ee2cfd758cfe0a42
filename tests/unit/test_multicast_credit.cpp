// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/multicast_credit.hpp"
#include "transfer/multicast_tree.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace odrc::transfer;

namespace {

// A tree of members who take in when they like; words go up at once.
struct Members {
    Members(Tree tree, uint32_t size, uint64_t allowed) {
        for (uint32_t rank = 0; rank < size; ++rank) {
            places.push_back(place_in(tree, rank, 0, size));
            credits.emplace_back(places.back().children.size(), allowed);
        }
        taken.resize(size);
    }
    void take_in(uint32_t rank, uint64_t cost) {
        taken[rank] += cost;
        credits[rank].took_in(cost);
        tell(rank);
    }
    void tell(uint32_t rank) {
        while (places[rank].parent) {
            const auto limit = credits[rank].news();
            if (!limit) return;
            ++words;
            const uint32_t parent = *places[rank].parent;
            const auto& siblings = places[parent].children;
            const auto at = std::ranges::find(siblings, rank) - siblings.begin();
            credits[parent].child_allows(static_cast<size_t>(at), *limit);
            rank = parent;
        }
    }
    uint64_t limit() const { return credits[0].limit(); }

    std::vector<Place> places;
    std::vector<Credit> credits;
    std::vector<uint64_t> taken;
    uint64_t words{0};
};

} // namespace

TEST_CASE("a root may send what every member has room for, and no more") {
    for (const Tree tree : {Tree::binary, Tree::binomial, Tree::knomial, Tree::chain}) {
        for (const uint64_t allowed : {kLeastCredit, 5 * kCreditQuantum}) {
            constexpr uint32_t kSize = 23;
            Members members{tree, kSize, allowed};
            std::mt19937 random{7};
            uint64_t sent = 0;
            for (int step = 0; step < 20000; ++step) {
                const uint64_t cost = random() % 2 ? kShortCost : kLongCost;
                if (sent + cost <= members.limit()) {
                    sent += cost;
                    members.take_in(0, cost);
                }
                const auto rank = static_cast<uint32_t>(1 + random() % (kSize - 1));
                if (members.taken[rank] < sent) members.take_in(rank, 1);
                for (uint32_t other = 1; other < kSize; ++other)
                    REQUIRE(sent - members.taken[other] <= allowed);
            }
            // When all is taken in, there is room for the longest message, however deep the tree.
            for (uint32_t rank = 1; rank < kSize; ++rank)
                members.take_in(rank, sent - members.taken[rank]);
            CHECK(members.limit() - sent >= kMaxMulticast / wire::kEagerLimit * kLongCost);
        }
    }
}

TEST_CASE("a member that takes nothing in stops the root") {
    Members members{Tree::chain, 8, 4 * kCreditQuantum};
    for (uint32_t rank = 0; rank < 7; ++rank) members.take_in(rank, 100 * kCreditQuantum);
    CHECK(members.limit() == kLeastCredit); // nothing but what it had from the beginning
    members.take_in(7, kCreditQuantum);
    CHECK(members.limit() == 5 * kCreditQuantum);
}

TEST_CASE("a member says a word for each quantum at the most") {
    Members members{Tree::binary, 2, 8 * kCreditQuantum};
    for (uint64_t i = 0; i < 1000 * kCreditQuantum; ++i) members.take_in(1, 1);
    CHECK(members.words <= 1001);
}

TEST_CASE("limits do not shrink") {
    Credit credit{1, kLeastCredit};
    credit.child_allows(0, 50);
    credit.child_allows(0, 10);
    credit.took_in(1000);
    CHECK(credit.limit() == 50);
}

TEST_CASE("members share an endpoint's room") {
    CHECK(credit_for(0, 8) == kLeastCredit);
    CHECK(credit_for(size_t{1} << 40, 8) == kMostCredit);
    const size_t bytes = 8 * 100 * kCreditQuantum * kCreditUnit / 10;
    CHECK(credit_for(bytes, 8) == 10 * kCreditQuantum);
    CHECK(credit_for(bytes, 9) % kCreditQuantum == 0);
}
