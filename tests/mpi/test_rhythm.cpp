// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a message takes that is not offered is seen in how soon the next one follows.

#include "messages_alike.hpp"
#include "schemes/rhythm.hpp"

using namespace alike;

namespace {

enum class How { as_it_is, generic, otherwise };

// Messages to and fro, each the same.
class Exchange {
public:
    void go(int messages, How how, double takes, int answers = 1) {
        for (int i = 0; i < messages; ++i) {
            begin(how);
            rhythm.end(kKind.place());
            for (int answer = 0; answer < answers; ++answer) rhythm.came(kKind);
            now += (1 + answers) * takes;
        }
    }
    void begin(How how) {
        rhythm.begin(kKind, how != How::as_it_is);
        if (how == How::generic) rhythm.generic(kKind);
    }
    Pace pace() const { return rhythm.pace(kKind); }

    Rhythm rhythm{clock};
};

bool is(const Pace& pace, uint32_t offered, uint32_t as_it_is) {
    return pace.offered == offered && pace.as_it_is == as_it_is;
}

} // namespace

TEST_CASE("a message takes its part of the time until the next one of ours begins") {
    for (const int answers : {0, 1, 3}) {
        Exchange exchange;
        CHECK(is(exchange.pace(), 0, 0));
        exchange.go(8, How::generic, 1000, answers);
        CHECK(is(exchange.pace(), 1000, 0));
        exchange.go(8, How::as_it_is, 600, answers);
        exchange.go(8, How::otherwise, 300, answers);
        CHECK(is(exchange.pace(), 1000, 600));
    }
}

TEST_CASE("the first of a row do not count, nor those that go at the same time") {
    Exchange exchange;
    for (int i = 0; i < 20; ++i) {
        exchange.go(2, How::generic, 1000);
        exchange.go(2, How::as_it_is, 600);
    }
    CHECK(is(exchange.pace(), 0, 0));
    for (int i = 0; i < 20; ++i) {
        for (int message = 0; message < 3; ++message) exchange.begin(How::generic);
        now += 1000;
        for (int message = 0; message < 3; ++message) exchange.rhythm.end(kKind.place());
    }
    CHECK(is(exchange.pace(), 1000, 0)); // of the last of each three
}

TEST_CASE("what is seldom held up keeps its pace, what takes longer for good does not") {
    Exchange exchange;
    for (int i = 0; i < 20; ++i) {
        exchange.go(50, How::as_it_is, 600);
        exchange.go(1, How::as_it_is, 1e6);
    }
    exchange.go(4, How::as_it_is, 600);
    CHECK(exchange.pace().as_it_is < 620);
    exchange.go(5000, How::as_it_is, 900);
    CHECK(exchange.pace().as_it_is == doctest::Approx(900).epsilon(0.01));
}

TEST_CASE("of a long row each eighth one tells, and of a very long one each sixty-fourth") {
    Exchange exchange;
    const auto looks_of = [&](int messages) {
        const size_t before = looks;
        exchange.go(messages, How::as_it_is, 600);
        return looks - before;
    };
    looks_of(40);
    CHECK(looks_of(80) == 2 * 10); // when it begins, and when the next one does
    looks_of(40);
    CHECK(looks_of(640) == 2 * 10);
    CHECK(is(exchange.pace(), 0, 600));
}

TEST_CASE("another kind at its place is another rhythm, and what ends late is none of its") {
    Exchange exchange;
    exchange.go(8, How::generic, 1000);
    MessageKind other = kKind;
    do ++(other.in.median == 255 ? other.in.piece : other.in.median);
    while (other.place() != kKind.place());
    exchange.rhythm.begin(other, true);
    CHECK(is(exchange.pace(), 0, 0));
    CHECK(is(exchange.rhythm.pace(other), 0, 0));
    exchange.rhythm.came(kKind);
    exchange.rhythm.generic(kKind);
    exchange.rhythm.end(kKind.place());
    exchange.rhythm.end(kKind.place());
    exchange.go(8, How::generic, 1000);
    CHECK(is(exchange.pace(), 1000, 0));
}
