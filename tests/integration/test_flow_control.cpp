// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Flow control (fi_odrc(7)): who sends faster than its peer receives waits, and nobody waits for
// ever.

#include "far.hpp"
#include "job.hpp"
#include "tests/forks.hpp"

using namespace duo;

namespace {

constexpr int kMany = 1000;

// Sends each its place, as far as it is let; gives how many.
int send_some(const Watched& from, fi_addr_t to, std::vector<int>& numbers) {
    int sent = 0;
    for (int& number : numbers) {
        number = sent;
        if (fi_tsend(from.ep(), &number, sizeof number, nullptr, to, 1, &number) != 0) break;
        ++sent;
    }
    return sent;
}

void sleep_ms(int ms) { usleep(static_cast<useconds_t>(ms) * 1000); }

} // namespace

TEST_CASE("a sender waits for a receiver that does not look, and both come to an end") {
    Duo d;
    std::vector<int> numbers(kMany);
    int ready = 0, in = 0;
    REQUIRE(fi_trecv(d.b.ep(), &in, sizeof in, nullptr, d.to_a, 0, 0, nullptr) == 0);
    REQUIRE(fi_tsend(d.a.ep(), &ready, sizeof ready, nullptr, d.to_b, 0, &ready) == 0);
    CHECK_FALSE(d.outcome(d.a, &ready).error);
    d.settle();
    const auto before = statistics_of(d.a);
    const int sent = send_some(d.a, d.to_b, numbers);
    REQUIRE(sent > 300);
    for (int i = 0; i < 100; ++i) d.a.poll(); // and b does not
    CHECK(statistics_of(d.a).credit_waits > before.credit_waits);

    std::vector<int> in_order(static_cast<size_t>(sent));
    for (int& number : in_order)
        REQUIRE(fi_trecv(d.b.ep(), &number, sizeof number, nullptr, d.to_a, 1, 0, &number) == 0);
    for (int& number : in_order) CHECK_FALSE(d.outcome(d.b, &number).error);
    for (int i = 0; i < sent; ++i) CHECK_FALSE(d.outcome(d.a, &numbers[size_t(i)]).error);
    for (int i = 0; i < sent; ++i) CHECK(in_order[size_t(i)] == i);
    CHECK(statistics_of(d.b).credit_grants > 0);
}

TEST_CASE("what goes back and forth brings the grants with it") {
    Duo d;
    int out = 0, in = 0, sending = 0, receiving = 0;
    for (int i = 0; i < kMany; ++i) {
        Watched& from = i % 2 ? d.a : d.b;
        Watched& to = i % 2 ? d.b : d.a;
        REQUIRE(fi_trecv(to.ep(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &receiving) == 0);
        REQUIRE(fi_tsend(from.ep(), &out, sizeof out, nullptr, i % 2 ? d.to_b : d.to_a, 1,
                         &sending) == 0);
        d.outcome(to, &receiving);
        d.outcome(from, &sending);
    }
    for (Watched* side : {&d.a, &d.b}) {
        CHECK(statistics_of(*side).credit_grants == 0);
        CHECK(statistics_of(*side).credit_waits == 0);
    }
}

// Its watchdog is nudged, and looks.
TEST_CASE("a sender comes to an end whose receiver looks at nothing") {
    Duo d;
    std::vector<int> numbers(kMany);
    const auto patience = Clock::now() + kPatience;
    const int sent = send_some(d.a, d.to_b, numbers);
    for (int i = 0; i < sent; ++i) {
        while (!d.a.take(&numbers[size_t(i)])) {
            REQUIRE(Clock::now() < patience);
            d.a.poll();
            sched_yield();
        }
    }
    for (int i = 0; i < sent; ++i) {
        int number = -1, receiving = 0;
        REQUIRE(fi_trecv(d.b.ep(), &number, sizeof number, nullptr, d.to_a, 1, 0, &receiving) == 0);
        CHECK_FALSE(d.outcome(d.b, &receiving).error);
        CHECK(number == i);
    }
}

// Injected messages are the provider's, from the call on.
TEST_CASE("a receiver gets all that was injected although the sender looks at nothing") {
    Duo d;
    int ready = 0, receiving = 0;
    REQUIRE(fi_trecv(d.b.ep(), &ready, sizeof ready, nullptr, d.to_a, 0, 0, &receiving) == 0);
    REQUIRE(fi_tinject(d.a.ep(), &ready, sizeof ready, d.to_b, 0) == 0);
    d.outcome(d.b, &receiving);
    int sent = 0;
    while (sent < kMany && fi_tinject(d.a.ep(), &sent, sizeof sent, d.to_b, 1) == 0) ++sent;
    REQUIRE(sent > 300);
    const auto patience = Clock::now() + kPatience;
    for (int i = 0; i < sent; ++i) {
        int number = -1;
        REQUIRE(fi_trecv(d.b.ep(), &number, sizeof number, nullptr, d.to_a, 1, 0, &receiving) == 0);
        while (!d.b.take(&receiving)) {
            REQUIRE(Clock::now() < patience);
            d.b.poll();
            sched_yield();
        }
        CHECK(number == i);
    }
}

TEST_CASE("writes with remote data wait for a receiver, and those without do not") {
    Duo d{kRmaWishes};
    Shared there{d.b, 8};
    int writing = 0;
    char byte = 'x';
    std::vector<int> numbers(300);
    for (int& context : numbers)
        REQUIRE(fi_writedata(d.a.ep(), &byte, 1, nullptr, 7, d.to_b, there.at(0), there.key(),
                             &context) == 0);
    for (int i = 0; i < 1000 && statistics_of(d.a).credit_waits == 0; ++i) {
        d.a.poll();
        sleep_ms(1);
    }
    CHECK(statistics_of(d.a).credit_waits > 0);
    size_t told = 0;
    const auto done = [&] {
        while (d.b.take(nullptr)) ++told;
        return told == numbers.size();
    };
    d.until(done);
    for (int& context : numbers) CHECK_FALSE(d.outcome(d.a, &context).error);
    const auto before = statistics_of(d.a);
    for (int i = 0; i < kMany; ++i) {
        while (fi_write(d.a.ep(), &byte, 1, nullptr, d.to_b, there.at(0), there.key(), &writing))
            d.a.poll();
        CHECK_FALSE(outcome(d.a, &writing).error);
    }
    CHECK(statistics_of(d.a).credit_waits == before.credit_waits);
}

// What lets a peer send more asks for no completion of its own, and must not hide that the peer is
// silent.
TEST_CASE("a peer dies that was let send more, and what it owes ends" * forks()) {
    Child child{[](Board& board) {
        Far far{board};
        int sent = 0;
        while (sent < kMany)
            if (fi_tinject(far.side.ep(), &sent, sizeof sent, far.peer, 1) == 0)
                ++sent;
            else
                far.side.poll();
        for (;;) far.side.poll(); // until it is killed
    }};
    Watched near;
    const fi_addr_t number = meet(near, child);
    const auto out = pattern(100'000, 'n'); // that nobody receives
    int sending = 0;
    REQUIRE(fi_tsend(near.ep(), out.data(), out.size(), nullptr, number, 2, &sending) == 0);
    for (int i = 0; i < kMany; ++i) {
        int in = -1, receiving = 0;
        REQUIRE(fi_trecv(near.ep(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &receiving) ==
                0);
        CHECK_FALSE(outcome(near, &receiving).error);
        CHECK(in == i);
    }
    CHECK(statistics_of(near).credit_grants > 0);
    child.kill_now();
    const Outcome o = outcome(near, &sending);
    REQUIRE(o.error);
    CHECK(o.error->err == FI_ECONNRESET);
}

namespace {

// One that has filled the memory of another for messages that come before their receives, and has
// more; and a third.
struct Flood {
    Flood() {
        std::vector<char> drop(200, 'd');
        for (auto last = Clock::now(); Clock::now() - last < std::chrono::milliseconds{100};
             poll()) {
            std::memcpy(drop.data(), &sent, sizeof sent);
            if (fi_tinject(from.ep(), drop.data(), drop.size(), from_to_one, 1)) continue;
            ++sent;
            last = Clock::now();
        }
        CHECK(statistics_of(one).unexpected_bytes_peak > 900'000);
    }
    void poll() {
        one.poll();
        from.poll();
        third.poll();
    }
    void third_says(int word) {
        REQUIRE(fi_tinject(third.ep(), &word, sizeof word, third_to_one, 2) == 0);
    }
    // All that it was is there.
    void check_drops() {
        std::vector<char> in(200);
        int receiving = 0;
        for (int i = 0; i < sent; ++i) {
            REQUIRE(fi_trecv(one.ep(), in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0,
                             &receiving) == 0);
            poll_until(*this, [&] { return one.take(&receiving).has_value(); });
            int number = -1;
            std::memcpy(&number, in.data(), sizeof number);
            CHECK(number == i);
        }
    }

    Watched one, from, third;
    fi_addr_t from_to_one{from.endpoint.insert(one.endpoint.name())};
    fi_addr_t third_to_one{third.endpoint.insert(one.endpoint.name())};
    int sent{0};
};

} // namespace

TEST_CASE("what a program waits for comes while others have filled its memory: a receive") {
    Flood f;
    int in = 0, receiving = 0;
    REQUIRE(fi_trecv(f.one.ep(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 2, 0, &receiving) == 0);
    f.third_says(77);
    poll_until(f, [&] { return f.one.take(&receiving).has_value(); });
    CHECK(in == 77);
    f.check_drops();
}

TEST_CASE("what a program waits for comes while others have filled its memory: a look") {
    Flood f;
    f.third_says(78);
    int looking = 0;
    fi_msg_tagged m{};
    m.tag = 2;
    m.addr = FI_ADDR_UNSPEC;
    m.context = &looking;
    poll_until(f, [&] {
        REQUIRE(fi_trecvmsg(f.one.ep(), &m, FI_PEEK) == 0);
        std::optional<Outcome> seen;
        poll_until(f, [&] { return (seen = f.one.take(&looking)).has_value(); });
        return !seen->error;
    });
    int in = 0, receiving = 0;
    REQUIRE(fi_trecv(f.one.ep(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 2, 0, &receiving) == 0);
    poll_until(f, [&] { return f.one.take(&receiving).has_value(); });
    CHECK(in == 78);
    f.check_drops();
}
