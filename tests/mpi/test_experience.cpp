// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Whatever was expected, the scheme is taken that turns out to be the quickest.

#include "schemes/experience.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace odrc::mpi;

namespace {

constexpr Experience::Side kSide{.piece = 9, .median = 9, .extent = 22};
constexpr Experience::Kind kKind{.bytes = 20, .out = kSide, .in = kSide};
constexpr uint64_t kBytes = 1 << 20;
constexpr size_t kMany = 200;

double now = 0; // nanoseconds
double clock() noexcept { return now; }

// Bursts of messages of which each takes what is said, in nanoseconds, one after the other.
class Messages {
public:
    explicit Messages(const Expected& expected, Experience::Of of = Experience::Of::all,
                      size_t settling = kSchemes, double spared = 0)
        : expected_{expected}
        , spared_{spared}
        , experience_{of, clock, settling} {}

    // How many bursts went with each.
    std::array<size_t, kSchemes> go(size_t bursts, const Expected& take, size_t of = 1) {
        std::array<size_t, kSchemes> went{};
        for (size_t i = 0; i < bursts; ++i) ++went[static_cast<size_t>(go(take, of))];
        return went;
    }
    Experience& experience() { return experience_; }

private:
    Scheme go(const Expected& take, size_t messages) {
        std::vector<Experience::Begun> burst;
        for (size_t i = 0; i < messages; ++i) {
            Expected expected = expected_;
            burst.push_back(experience_.begin(kKind, kBytes, expected, {}, spared_));
            CHECK(burst.back().way == burst.front().way);
        }
        for (const auto& message : burst) {
            now += take[static_cast<size_t>(message.way)];
            if (message.ticket) experience_.end(*message.ticket, kBytes);
        }
        return burst.front().way;
    }

    const Expected expected_;
    const double spared_;
    Experience experience_;
};

} // namespace

TEST_CASE("the quickest is taken, though another one was expected to be") {
    Messages messages{{100, 200, 300, 90, 400}};
    const Expected take{100, 100, 60, 150, 200};
    messages.go(kMany, take);
    const auto went = messages.go(kMany, take);
    CHECK(went[2] >= kMany - 16); // others are tried again
}

TEST_CASE("what cannot be taken, or is hopeless, never is") {
    Messages messages{{100, 100, kNever, 100, 5000}};
    const auto went = messages.go(10'000, {100, 160, 1, 170, 1});
    CHECK(went[2] == 0);
    CHECK(went[4] == 0);
    CHECK(went[0] > 9850);
}

TEST_CASE("what is quicker when it has been taken for a while is found") {
    Messages messages{{100, 100, kNever, kNever, kNever}};
    messages.go(8, {100, 120, 0, 0, 0});
    messages.go(kMany, {100, 90, 0, 0, 0});
    CHECK(messages.go(kMany, {100, 90, 0, 0, 0})[1] >= kMany - 16);
}

TEST_CASE("one that needs some bursts to do well is given them, unless it is far behind") {
    constexpr Expected kHoped{100, 110, kNever, kNever, kNever};
    constexpr size_t kSettling = 1;
    Messages late{kHoped, Experience::Of::all, kSettling};
    late.go(12, {100, 140, 0, 0, 0});
    late.go(kMany, {100, 60, 0, 0, 0});
    CHECK(late.go(kMany, {100, 60, 0, 0, 0})[1] >= kMany - 16);
    Messages behind{kHoped, Experience::Of::all, kSettling};
    CHECK(behind.go(50, {100, 160, 0, 0, 0})[1] <= 8);
}

TEST_CASE("what becomes quicker is found, what becomes slower is left") {
    Messages messages{{100, 100, 100, 100, 100}};
    messages.go(kMany, {100, 110, 150, 190, 300});
    messages.go(10'000, {100, 110, 150, 50, 300});
    CHECK(messages.go(kMany, {100, 110, 150, 50, 300})[3] >= kMany - 16); // others are tried again
    messages.go(kMany, {100, 110, 150, 500, 300});
    CHECK(messages.go(kMany, {100, 110, 150, 500, 300})[0] >= kMany - 16); // others are tried again
}

TEST_CASE("one of eight tells of a way that goes on and on, and of what it becomes") {
    Messages messages{{100, 100, kNever, kNever, kNever}};
    constexpr Expected kTake{100, 50, 0, 0, 0};
    messages.go(20'000, kTake);
    size_t told = 0;
    constexpr Experience::News kLike{Scheme::bc_spup, 0};
    for (size_t i = 0; i < 800; ++i) {
        Expected expected{100, 100, kNever, kNever, kNever};
        const auto begun = messages.experience().begin(kKind, kBytes, expected);
        CHECK(begun.way == Scheme::bc_spup);
        CHECK(expected[1] == doctest::Approx(50));
        CHECK(messages.experience().news(kKind) == kLike);
        now += 50;
        told += begun.ticket.has_value();
        if (begun.ticket) messages.experience().end(*begun.ticket, kBytes);
    }
    CHECK(told == 100);
    Expected without{100, kNever, 100, kNever, kNever};
    const auto otherwise = messages.experience().begin(kKind, kBytes, without);
    CHECK(otherwise.way != Scheme::bc_spup);
    if (otherwise.ticket) messages.experience().end(*otherwise.ticket, kBytes);
    messages.go(kMany, {100, 150, 0, 0, 0});
    CHECK(messages.go(kMany, {100, 150, 0, 0, 0})[0] > kMany - 32);
    messages.go(20'000, kTake);
    std::vector<Experience::Ticket> at_once; // of which there are many, which is seen all the same
    for (size_t i = 0; i < 32; ++i) {
        Expected expected{100, 100, kNever, kNever, kNever};
        const auto begun = messages.experience().begin(kKind, kBytes, expected);
        if (begun.ticket) at_once.push_back(*begun.ticket);
    }
    for (const auto& ticket : at_once) messages.experience().end(ticket, kBytes);
    CHECK_FALSE(messages.experience().news(kKind));
}

TEST_CASE("others are tried more and more seldom, until the quickest one takes longer") {
    Messages messages{{100, 100, 100, kNever, kNever}};
    const auto others = [&](size_t bursts, const Expected& take) {
        return bursts - messages.go(bursts, take)[1];
    };
    constexpr Expected kTake{100, 50, 120, 0, 0}, kSlower{100, 80, 120, 0, 0};
    const size_t first = others(10'000, kTake);
    others(50'000, kTake);
    CHECK(others(10'000, kTake) < first / 4);
    CHECK(others(10'000, kSlower) > first / 2);
}

TEST_CASE("one that something else has held up does not count for much") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    messages.go(kMany, {100, 120, 0, 0, 0});
    messages.go(1, {1'000'000, 120, 0, 0, 0});
    messages.go(kMany, {100, 120, 0, 0, 0});
    CHECK(messages.go(kMany, {100, 120, 0, 0, 0})[0] >= kMany - 16); // others are tried again
}

TEST_CASE("what is best for one message need not be for many at once") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    constexpr Expected kOne{100, 120, 0, 0, 0}, kOfMany{80, 50, 0, 0, 0};
    for (int i = 0; i < 10; ++i) {
        messages.go(20, kOne);
        messages.go(20, kOfMany, 32);
    }
    messages.go(1, kOne); // each goes as the last one would have been best
    CHECK(messages.go(20, kOne)[0] == 20);
    messages.go(1, kOfMany, 32);
    CHECK(messages.go(20, kOfMany, 32)[1] == 20);
}

TEST_CASE("where one alone tells nothing, what is expected of it counts") {
    Messages messages{{100, 110, kNever, kNever, kNever}, Experience::Of::many_at_once};
    constexpr Expected kTake{100, 50, 0, 0, 0};
    CHECK(messages.go(kMany, kTake)[0] == kMany);
    messages.go(50, kTake, 32);
    CHECK(messages.go(20, kTake, 32)[1] == 20);
    messages.go(1, kTake);
    CHECK(messages.go(kMany, kTake)[0] == kMany);
}

TEST_CASE("where nothing is to be learned, what is expected counts") {
    Messages messages{{110, 100, kNever, kNever, kNever}, Experience::Of::none};
    constexpr Expected kTake{50, 100, 0, 0, 0};
    CHECK(messages.go(kMany, kTake)[1] == kMany);
    CHECK(messages.go(50, kTake, 32)[1] == 50);
}

TEST_CASE("those that never end all at once are a new burst from time to time") {
    Experience experience{Experience::Of::all, clock};
    std::vector<Experience::Begun> under_way;
    std::array<size_t, kSchemes> last{};
    for (size_t i = 0; i < 8000; ++i) {
        Expected expected{100, 100, 5000, 5000, 5000};
        under_way.push_back(experience.begin(kKind, kBytes, expected));
        if (i > 7000) ++last[static_cast<size_t>(under_way.back().way)];
        if (under_way.size() < 20) continue;
        now += under_way.front().way == Scheme::generic ? 100 : 50;
        experience.end(*under_way.front().ticket, kBytes);
        under_way.erase(under_way.begin());
    }
    CHECK(last[1] > 900);
}

TEST_CASE("what has failed is not learned of, what cannot be taken in a burst goes otherwise") {
    Experience experience{Experience::Of::all, clock};
    for (int i = 0; i < 100; ++i) {
        Expected expected{100, 100, 5000, 5000, 5000};
        const auto begun = experience.begin(kKind, kBytes, expected);
        now += begun.way == Scheme::bc_spup ? 1 : 100;
        experience.end(*begun.ticket, begun.way == Scheme::bc_spup ? 0 : kBytes);
    }
    Expected expected{100, 100, 5000, 5000, 5000}, without{kNever, 100, 2000, 2000, 2000};
    CHECK(experience.begin(kKind, kBytes, expected).way == Scheme::generic);
    const auto otherwise = experience.begin(kKind, kBytes, without);
    CHECK(otherwise.way == Scheme::bc_spup);
    CHECK(!otherwise.ticket);
}

TEST_CASE("the quickest is not taken for a message with which it cannot be") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    const auto went = messages.go(kMany, {100, 50, 0, 0, 0});
    CHECK(went[1] > kMany / 2);
    Expected without{100, kNever, 5000, 5000, 5000};
    const auto begun = messages.experience().begin(kKind, kBytes, without);
    CHECK(begun.way == Scheme::generic);
    CHECK(begun.ticket);
}

TEST_CASE("kinds are learned of apart, and what ends of a kind that was forgotten is nothing") {
    Experience experience{Experience::Of::all, clock};
    const auto go = [&](const Experience::Kind& kind, const Expected& take) {
        for (size_t i = 0; i < kMany; ++i) {
            Expected expected{100, 100, 5000, 5000, 5000};
            const auto begun = experience.begin(kind, kBytes, expected);
            now += take[static_cast<size_t>(begun.way)];
            experience.end(*begun.ticket, kBytes);
        }
    };
    constexpr Experience::Kind kOthers[]{
        {.bytes = 20, .out = {.piece = 9, .median = 3, .extent = 22}, .in = kSide},
        {.bytes = 20, .out = kSide, .in = {.piece = 9, .median = 9, .extent = 24}}};
    go(kKind, {100, 50, 0, 0, 0});
    for (const auto& other : kOthers) go(other, {50, 100, 0, 0, 0});
    Expected expected{100, 100, 5000, 5000, 5000};
    const auto begun = experience.begin(kKind, kBytes, expected);
    CHECK(begun.way == Scheme::bc_spup);
    CHECK(expected[1] == doctest::Approx(50));
    CHECK(expected[0] == doctest::Approx(100));
    for (const auto& other : kOthers)
        CHECK(experience.begin(other, kBytes, expected).way == Scheme::generic);
    for (uint8_t out = 0; out < 64; ++out)
        for (uint8_t median = 0; median < 8; ++median)
            go({.bytes = 20, .out = {out, median, 22}, .in = kSide}, {1, 1, 1, 1, 1});
    experience.end(*begun.ticket, kBytes);
}

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
            if (begun.ticket) experience.end(*begun.ticket, kBytes);
        };
        for (int i = 0; i < 6; ++i) receive(0, {}); // so that they are not in step by chance
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
    CHECK(unasked(kMany, 1) == 48);
    messages.experience().pause(kKind, 0);
    CHECK(unasked(0, 1) == 0);
    CHECK(unasked(0, 1) == 0);
    CHECK(unasked(0, 1) == 48);
    CHECK(unasked(kMany, 32) == 0);
}

TEST_CASE("few are unasked at first, and twice as many each time, until another way is quicker") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
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
        unasked.resize(std::min<size_t>(unasked.size(), 3));
    };
    const std::vector<uint32_t> growing{12, 24, 48};
    go({100, 200, 0, 0, 0});
    CHECK(unasked == growing);
    go({100, 200, 0, 0, 0});
    CHECK(unasked.front() == 48);
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
        Messages messages{
            {100, 100, kNever, kNever, kNever}, Experience::Of::all, kSchemes, spared};
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

TEST_CASE("a way that does badly at first is tried again soon") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(8, {300, 150, 0, 0, 0}); // both for the first time
    const auto went = messages.go(kMany, {100, 150, 0, 0, 0});
    CHECK(went[0] > went[1]);
}

TEST_CASE("what is settled elsewhere counts for so many messages that go alone") {
    constexpr Expected kTake{100, 100, 0, 0, 0};
    Messages messages{{110, 100, kNever, kNever, kNever}, Experience::Of::many_at_once};
    messages.go(1, kTake);
    messages.experience().settle(kKind, Scheme::generic, 5);
    CHECK(messages.go(10, kTake) == std::array<size_t, kSchemes>{5, 5, 0, 0, 0});
}
