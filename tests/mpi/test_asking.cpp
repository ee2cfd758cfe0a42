// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What two processes tell each other of that: who leads, and what need not be asked for.

#include "messages_alike.hpp"

using namespace alike;

TEST_CASE("two whose messages are slow unless both take the same way find the best for both") {
    constexpr Expected kHoped{110, kNever, kNever, kNever, 100};
    for (const bool follows : {false, true}) {
        Experience leader{Experience::Of::all, clock}, other{Experience::Of::all, clock};
        Scheme ways[2]{Scheme::multi_w, Scheme::multi_w}; // by which each got its last message
        const auto receive = [&](int who, std::optional<Experience::News> like) {
            Experience& experience = who == 0 ? leader : other;
            Expected expected = kHoped;
            const auto begun = experience.begin(kKind, kBytes, expected, like);
            ways[who] = begun.way;
            now += ways[0] != ways[1] ? 200 : begun.way == Scheme::generic ? 60 : 90;
            REQUIRE(begun.ticket);
            experience.end(*begun.ticket, kBytes);
        };
        for (int i = 0; i < 10; ++i) receive(0, {}); // so that they are not in step by chance
        size_t together = 0;
        for (size_t i = 0; i < 2 * kMany; ++i) {
            receive(1, follows ? leader.news(kKind) : std::nullopt);
            receive(0, {});
            together += i >= kMany && ways[0] == Scheme::generic && ways[1] == Scheme::generic;
        }
        if (follows) CHECK(together >= kMany - 40); // others are tried again
        if (!follows) CHECK(together == 0);
    }
}

TEST_CASE("who leads says by which way a message came once, and nothing of many") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    CHECK_FALSE(messages.experience().news(kKind));
    messages.go(1, {100, 110, 0, 0, 0});
    CHECK(messages.experience().news(kKind) == Experience::News{Scheme::generic, 0});
    CHECK_FALSE(messages.experience().news(kKind));
    messages.go(2, {100, 110, 0, 0, 0}, 32);
    CHECK_FALSE(messages.experience().news(kKind));
}

TEST_CASE("who follows does not where it cannot, or where many come at once") {
    Messages messages{{100, kNever, 110, 110, 110}};
    Expected expected{100, kNever, 110, 110, 110};
    const auto begun =
        messages.experience().begin(kKind, kBytes, expected, Experience::News{Scheme::bc_spup, 0});
    CHECK(begun.way == Scheme::generic);
    messages.experience().end(*begun.ticket, kBytes);
    messages.go(kMany, {100, 0, 110, 120, 130}, 32);
    CHECK(messages.experience()
              .begin(kKind, kBytes, expected, Experience::News{Scheme::multi_w, 0})
              .way != Scheme::multi_w);
}

TEST_CASE(
    "Generic alone is not asked for when all has been tried, and not where many come at once") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    const auto unasked = [&](size_t bursts, size_t of) {
        messages.go(bursts, {100, 200, 0, 0, 0}, of);
        Expected expected{100, 110, kNever, kNever, kNever};
        const auto begun = messages.experience().begin(kKind, kBytes, expected);
        messages.experience().end(*begun.ticket, 0);
        return begun.unasked;
    };
    CHECK(unasked(1, 1) == 0);
    CHECK(unasked(kMany, 1) == 384);
    messages.experience().pause(kKind, 0);
    CHECK(unasked(0, 1) == 0);
    CHECK(unasked(0, 1) == 0);
    CHECK(unasked(0, 1) == 384);
    CHECK(unasked(kMany, 32) == 0);
}

TEST_CASE("few are unasked at first, and twice as many each time, until another way is quicker") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    const std::vector<uint32_t> growing{12, 24, 48, 96, 192, 384};
    std::vector<uint32_t> unasked;
    const auto go = [&](const Expected& take) {
        unasked.clear();
        for (size_t i = 0; i < 200 * kMany; ++i) {
            Expected expected{100, 110, kNever, kNever, kNever};
            const auto begun = messages.experience().begin(kKind, kBytes, expected);
            now += take[static_cast<size_t>(begun.way)];
            messages.experience().end(*begun.ticket, kBytes);
            if (begun.unasked > 0 && (unasked.empty() || unasked.back() != begun.unasked))
                unasked.push_back(begun.unasked);
        }
        unasked.resize(std::min(unasked.size(), growing.size()));
    };
    go({100, 200, 0, 0, 0});
    CHECK(unasked == growing);
    go({100, 200, 0, 0, 0});
    CHECK(unasked.front() == 384);
    go({100, 50, 0, 0, 0});
    go({100, 50, 0, 0, 0}); // Generic is far behind
    CHECK(unasked.empty());
    go({70, 50, 0, 0, 0});
    go({70, 50, 0, 0, 0}); // it is tried, and what is spared without asking is to be seen
    CHECK(unasked == std::vector<uint32_t>{12});
    go({20, 50, 0, 0, 0});
    CHECK(unasked == growing);
}

TEST_CASE("who follows one that does not ask for some asks for as few") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    for (const uint32_t unasked : {0U, 12U}) {
        Expected expected{100, 110, kNever, kNever, kNever};
        const auto begun = messages.experience().begin(kKind, kBytes, expected,
                                                       Experience::News{Scheme::generic, unasked});
        messages.experience().end(*begun.ticket, kBytes);
        CHECK(begun.unasked == unasked);
    }
}

TEST_CASE("what came without having been asked for is news, too, of kinds that are known") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.experience().came(kKind, Scheme::generic);
    CHECK_FALSE(messages.experience().news(kKind));
    messages.go(1, {100, 110, 0, 0, 0});
    messages.experience().came(kKind, Scheme::generic);
    CHECK(messages.experience().news(kKind) == Experience::News{Scheme::generic, 0});
    CHECK_FALSE(messages.experience().news(kKind));
}

TEST_CASE("Generic is not left for one that gains less than asking takes") {
    for (const double spared : {0.0, 30.0}) {
        Messages messages{{100, 100, kNever, kNever, kNever}, Experience::Of::all, spared};
        messages.go(kMany, {100, 80, 0, 0, 0});
        const auto went = messages.go(kMany, {100, 80, 0, 0, 0});
        CHECK((went[0] > went[1]) == (spared > 20));
    }
}

TEST_CASE("the first ones after a pause do not count") {
    // Generic is asked for in rows of three, of which the first two come late.
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(kMany, {100, 110, 0, 0, 0});
    std::array<size_t, kSchemes> went{};
    for (size_t i = 0; i < kMany; ++i) {
        messages.experience().pause(kKind, 0);
        for (const double first : {200.0, 200.0, 100.0}) {
            const auto one = messages.go(1, {first, 110, 0, 0, 0});
            for (size_t way = 0; way < kSchemes; ++way) went[way] += one[way];
        }
    }
    CHECK(went[0] > 3 * kMany - 60); // the other one is tried again
}

TEST_CASE("messages that are not asked for count until another way is tried again") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(2 * kMany, {100, 150, 0, 0, 0});
    size_t asked = 0, other = 0;
    for (; other < 16 && asked < kMany; ++asked) {
        messages.experience().pause(kKind, 48);
        other += messages.go(1, {100, 50, 0, 0, 0})[1];
    }
    CHECK(asked < 60);
}

TEST_CASE("what is settled elsewhere counts for so many messages that go alone") {
    constexpr Expected kTake{100, 100, 0, 0, 0};
    Messages messages{{110, 100, kNever, kNever, kNever}, Experience::Of::many_at_once};
    messages.go(1, kTake);
    messages.experience().settle(kKind, Scheme::generic, 5);
    CHECK(messages.go(10, kTake) == std::array<size_t, kSchemes>{5, 5, 0, 0, 0});
}
