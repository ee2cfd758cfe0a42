// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Of many messages at once the way is taken that turns out to be the quickest for all of them.

#include "messages_alike.hpp"

using namespace alike;

namespace {

constexpr size_t kBurst = 32; // messages

// Bursts, each of which is over for its sender after took(way), and followed by a pause.
template <class Took, class Pause>
std::array<size_t, kSchemes> go_many(Experience& experience, size_t bursts, Took&& took,
                                     Pause&& pause) {
    std::array<size_t, kSchemes> went{};
    for (size_t i = 0; i < bursts; ++i) {
        std::vector<Experience::Begun> burst;
        for (size_t message = 0; message < kBurst; ++message) {
            Expected expected{100, 110, kNever, kNever, kNever};
            burst.push_back(experience.begin(kKind, kBytes, expected));
        }
        const auto way = static_cast<size_t>(burst.front().way);
        now += took(way);
        for (const auto& message : burst) experience.end(*message.ticket, kBytes);
        now += pause(i, way);
        ++went[way];
    }
    return went;
}

} // namespace

TEST_CASE("of many at once, what a peer tries is no measure, and is waited for, but not for ever") {
    constexpr Expected kHoped{110, 100, kNever, kNever, kNever}, kTried{100, 140, 0, 0, 0};
    Messages messages{kHoped, Experience::Of::many_at_once}, in_vain{kHoped};
    for (Messages* m : {&messages, &in_vain}) {
        m->put_off(Scheme::bc_spup);
        CHECK(m->go(30, kTried, 64)[1] >= 28); // the first burst is not known to be many
    }
    messages.put_off(std::nullopt);
    messages.go(30, {100, 60, 0, 0, 0}, 64);
    CHECK(messages.go(kMany, {100, 60, 0, 0, 0}, 64)[1] >= kMany - 16); // others are tried again
    in_vain.go(70, kTried, 64);
    CHECK(in_vain.go(kMany, kTried, 64)[0] > kMany / 2);
}

TEST_CASE("many at once are seen as soon as they come, however many go together") {
    for (size_t of = 2; of <= 16; ++of) {
        Messages messages{{100, 100, kNever, kNever, kNever}};
        messages.go(20'000, {100, 50, 0, 0, 0});
        messages.go(1, {100, 50, 0, 0, 0}, of);
        CHECK_FALSE(messages.experience().news(kKind));
    }
}

TEST_CASE("of many at once a few bursts tell which way is the quickest") {
    constexpr Expected kTake{100, 25, 110, 120, 130};
    Messages messages{{100, 110, 120, 130, 140}};
    messages.go(4 + 4 * kSchemes, kTake, 64); // it is not known at first that there are many
    CHECK(messages.go(kMany, kTake, 64)[1] == kMany);
}

TEST_CASE("what is best for one message need not be for many at once") {
    Messages messages{{100, 100, 5000, 5000, 5000}};
    constexpr Expected kOne{100, 120, 0, 0, 0}, kOfMany{80, 50, 0, 0, 0};
    for (int i = 0; i < 9; ++i) {
        messages.go(20, kOne);
        messages.go(20, kOfMany, 32);
    }
    messages.go(1, kOne); // each goes as the last one would have been best
    CHECK(messages.go(20, kOne)[0] == 20);
    messages.go(1, kOfMany, 32);
    CHECK(messages.go(20, kOfMany, 32)[1] == 20);
}

TEST_CASE("of many at once, too, what was held up when it was tried is tried again soon") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(20, {100, 150, 0, 0, 0}, 64); // both are tried, and tried once more
    messages.go(kMany, {100, 50, 0, 0, 0}, 64);
    CHECK(messages.go(kMany, {100, 50, 0, 0, 0}, 64)[1] >= kMany - 16);
}

TEST_CASE("of many at once, what seemed slow in the one burst that counted is tried twice") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    const auto first = messages.go(8, {100, 300, 0, 0, 0}, 64);
    CHECK(first[1] == 2);
    messages.go(8, {100, 50, 0, 0, 0}, 64);
    CHECK(messages.go(20, {100, 50, 0, 0, 0}, 64)[1] == 20);
}

TEST_CASE("of many at once, those that are about as quick are tried some times") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(12, {100, 140, 0, 0, 0}, 64); // both twice
    messages.go(8, {100, 50, 0, 0, 0}, 64);
    CHECK(messages.go(20, {100, 50, 0, 0, 0}, 64)[1] == 20);
}

TEST_CASE("what is left of a burst for its receiver counts, and not what a program does then") {
    const auto go = [](double takes_other, double behind_first, double behind_other) {
        Experience experience{Experience::Of::many_at_once, clock};
        return go_many(
            experience, kMany, [=](size_t way) { return way == 0 ? 100 : takes_other; },
            [=](size_t, size_t way) { return way == 0 ? behind_first : behind_other; });
    };
    CHECK(go(150, 0, 0)[0] > kMany / 2);
    CHECK(go(150, 90, 0)[1] > kMany / 2);
    CHECK(go(150, 1000, 900)[0] > kMany / 2);
}

TEST_CASE("of many at once, others are tried soon when the quickest one takes longer") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    constexpr size_t kLong = 5500;
    messages.go(kLong, {100, 150, 0, 0, 0}, 64);
    CHECK(messages.go(kMany, {100, 150, 0, 0, 0}, 64)[1] == 0);
    CHECK(messages.go(kMany, {140, 100, 0, 0, 0}, 64)[1] > kMany / 2);
}

TEST_CASE("of many at once, others are tried the more seldom the longer nothing changes") {
    Messages messages{{100, 110, 110, 110, 110}};
    constexpr Expected kTake{100, 190, 190, 190, 190};
    messages.go(8 * kSchemes, kTake, 64); // each has been tried twice
    constexpr size_t kOthers = kSchemes - 1, kInARow = 2, kMost = 512;
    const size_t bursts = 10 * kMany, tried = bursts - messages.go(bursts, kTake, 64)[0];
    CHECK(tried > kInARow * kOthers);
    CHECK(tried <= kInARow * (2 * kOthers + bursts / kMost)); // two rounds are sooner
}

TEST_CASE("of many at once, what changes again and again has others tried now and then") {
    Messages messages{{100, 110, 110, 110, 110}};
    messages.go(4 * kMany, {100, 190, 190, 190, 190}, 64);
    size_t tried = 0;
    constexpr size_t kChanges = 20;
    for (size_t i = 0; i < kChanges; ++i) {
        const double all = i % 2 == 0 ? 140 : 100, others = 1.9 * all;
        tried += kMany / 2 - messages.go(kMany / 2, {all, others, others, others, others}, 64)[0];
    }
    constexpr size_t kInARow = 2, kBetween = 128;
    CHECK(tried > 0);
    CHECK(tried <= kInARow * (kChanges * kMany / 2 / kBetween + 1));
}

TEST_CASE("of many at once, what gets quicker burst by burst is tried until it does not") {
    for (const auto of : {Experience::Of::all, Experience::Of::many_at_once}) {
        Experience experience{of, clock};
        const auto at_once = [](size_t, size_t) { return 0; };
        go_many(
            experience, kMany, [](size_t way) { return way == 0 ? 100 : 145; }, at_once);
        size_t in_a_row = 0;
        const auto warms_up = [&](size_t way) {
            in_a_row = way == 1 ? in_a_row + 1 : 0;
            return way == 0 ? 100.0 : 60 * (1 + 1.6 / static_cast<double>(in_a_row));
        };
        CHECK(go_many(experience, 2 * kMany, warms_up, at_once)[1] > kMany);
    }
}

TEST_CASE("of many at once, the first that is tried again is not the quickest one") {
    Messages messages{{100, 110, kNever, kNever, kNever}};
    messages.go(20, {100, 160, 0, 0, 0}, 64);
    CHECK(messages.go(30, {100, 160, 0, 0, 0}, 64)[1] > 0);
}

TEST_CASE("a way does not seem slower because nothing follows the last burst of a row") {
    const auto go = [](size_t in_a_row, double takes_other, size_t without_pauses) {
        Experience experience{Experience::Of::many_at_once, clock};
        const auto take = [=](size_t way) { return way == 0 ? 100 : takes_other; };
        go_many(experience, without_pauses, take, [](size_t, size_t) { return 0; });
        return go_many(experience, kMany, take,
                       [=](size_t i, size_t) { return (i + 1) % in_a_row == 0 ? 10'000 : 0; });
    };
    CHECK(go(5, 102, kMany)[0] > kMany - 8); // others are tried again
    // What is tried is, until it tells something; and it does where nothing is ever followed.
    CHECK(go(2, 90, 0)[1] > kMany - 32);
    CHECK(go(3, 90, 0)[1] > kMany - 32);
    CHECK(go(1, 90, 0)[1] > kMany - 32);
}

TEST_CASE("whether many at once are tried is said, and one alone is not") {
    Experience experience{Experience::Of::many_at_once, clock};
    const auto is_trial = [&](size_t messages) {
        std::vector<Experience::Begun> burst;
        for (size_t i = 0; i < messages; ++i) {
            Expected expected{100, 110, kNever, kNever, kNever};
            burst.push_back(experience.begin(kKind, kBytes, expected));
        }
        now += 100;
        for (const auto& message : burst) experience.end(*message.ticket, kBytes);
        return burst.front().is_trial;
    };
    CHECK_FALSE(is_trial(1));
    CHECK_FALSE(is_trial(kBurst)); // they are not known to be many
    CHECK(is_trial(kBurst));
    size_t tried = 0;
    for (size_t i = 0; i < kMany; ++i) tried += is_trial(kBurst);
    CHECK(tried > 0);
    CHECK(tried < kMany / 4);
    is_trial(1);
    CHECK_FALSE(is_trial(1));
}
