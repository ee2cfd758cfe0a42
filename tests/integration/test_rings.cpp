// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Short messages of the peers that send most go into rings (fi_odrc(7)), and nobody notices.

#include "atomics.hpp"
#include "job.hpp"

#include <memory>
#include <random>

using namespace duo;

namespace {

constexpr int kMany = 1000;
constexpr uint64_t kRings = 8;

uint64_t by_ring(const Watched& side) { return messages_of(statistics_of(side).sent_ring); }

// Messages from one side to the other, each there before the next one goes.
template <class Group>
void talk(Group& group, Watched& from, fi_addr_t to, Watched& at, int count) {
    for (int i = 0; i < count; ++i) {
        int in = -1, receiving = 0;
        REQUIRE(fi_trecv(at.ep(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 3, 0, &receiving) == 0);
        ssize_t result = -FI_EAGAIN;
        poll_until(group, [&] {
            return (result = fi_tinject(from.ep(), &i, sizeof i, to, 3)) != -FI_EAGAIN;
        });
        REQUIRE(result == 0);
        poll_until(group, [&] { return at.take(&receiving).has_value(); });
        CHECK(in == i);
    }
}

// Many that send to one.
struct Crowd {
    explicit Crowd(size_t size) {
        for (size_t i = 0; i < size; ++i) {
            senders.push_back(std::make_unique<Watched>());
            to_one.push_back(senders.back()->endpoint.insert(one.endpoint.name()));
        }
    }
    void poll() {
        one.poll();
        for (auto& sender : senders) sender->poll();
    }
    void talk(size_t sender, int count) {
        ::talk(*this, *senders[sender], to_one[sender], one, count);
    }

    Watched one;
    std::vector<std::unique_ptr<Watched>> senders;
    std::vector<fi_addr_t> to_one;
};

} // namespace

TEST_CASE("who sends many short messages writes them into a ring") {
    Duo d;
    talk(d, d.a, d.to_b, d.b, kMany);
    CHECK(statistics_of(d.b).ring_peers == 1);
    CHECK(statistics_of(d.a).ring_peers == 0); // nothing comes back
    CHECK(by_ring(d.a) > kMany * 3 / 4);
    CHECK(statistics_of(d.a).messages_sent == kMany);
    talk(d, d.b, d.to_a, d.a, kMany);
    CHECK(by_ring(d.b) > kMany * 3 / 4);
}

TEST_CASE("an endpoint that may sleep is woken, and has no rings") {
    Duo d{{.caps = kAllCaps}, {.caps = kAllCaps, .wait = FI_WAIT_FD}};
    talk(d, d.a, d.to_b, d.b, kMany);
    CHECK(by_ring(d.a) == 0);
    talk(d, d.b, d.to_a, d.a, kMany);
    CHECK(by_ring(d.b) > 0); // the other one does not sleep
}

TEST_CASE("where the watchdog makes progress, rings are for as long as the program looks") {
    Wishes watched{.caps = kAllCaps};
    watched.data_progress = FI_PROGRESS_AUTO;
    Duo d{{.caps = kAllCaps}, watched};
    for (int round = 0; round < 3; ++round) {
        const uint64_t before = by_ring(d.a);
        const auto end = Clock::now() + kPatience;
        while (by_ring(d.a) < before + kMany) { // it takes some time to see that it looks
            REQUIRE(Clock::now() < end);
            talk(d, d.a, d.to_b, d.b, 100);
        }
        // Now the receiver's program does something else: what comes is taken in all the same, also
        // what goes into the ring till its watchdog has it back.
        uint64_t ways = 0;
        do {
            ways = by_ring(d.a);
            int in = -1, receiving = 0;
            const uint64_t received = statistics_of(d.b).messages_received;
            REQUIRE(fi_trecv(d.b.ep(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 3, 0, &receiving) ==
                    0);
            REQUIRE(fi_tinject(d.a.ep(), &round, sizeof round, d.to_b, 3) == 0);
            while (statistics_of(d.b).messages_received == received) {
                REQUIRE(Clock::now() < end);
                d.a.poll();
            }
            CHECK(d.outcome(d.b, &receiving).entry.len == sizeof round);
            CHECK(in == round);
            const auto rest = Clock::now() + std::chrono::milliseconds{20};
            while (Clock::now() < rest) d.a.poll();
        } while (by_ring(d.a) != ways);
    }
}

TEST_CASE("messages keep their order, whatever way each takes") {
    Duo d;
    talk(d, d.a, d.to_b, d.b, 200);
    std::mt19937 random{11};
    constexpr size_t kShort = 300, kLongest = 5000; // more than goes into a ring
    constexpr int kAtOnce = 50;
    for (int round = 0; round < 60; ++round) {
        std::vector<std::vector<char>> out, in;
        for (int i = 0; i < kAtOnce; ++i) {
            const size_t most = random() % 2 ? kShort : kLongest;
            out.push_back(pattern(random() % most, static_cast<char>(round + i)));
            in.emplace_back(kLongest);
        }
        std::array<int, kAtOnce> sending{}, receiving{};
        const bool late = round % 2; // the receives
        const auto post_receives = [&] {
            for (size_t i = 0; i < kAtOnce; ++i)
                REQUIRE(fi_trecv(d.b.ep(), in[i].data(), kLongest, nullptr, d.to_a, 5, 0,
                                 &receiving[i]) == 0);
        };
        if (!late) post_receives();
        std::array<bool, kAtOnce> told{};
        for (size_t i = 0; i < kAtOnce; ++i) {
            told[i] = random() % 2 || out[i].size() > kShort; // the others are injected
            const iovec iov{out[i].data(), out[i].size()};
            const fi_msg_tagged m{.msg_iov = &iov,
                                  .desc = nullptr,
                                  .iov_count = 1,
                                  .addr = d.to_b,
                                  .tag = 5,
                                  .ignore = 0,
                                  .context = &sending[i],
                                  .data = 0};
            const uint64_t flags = random() % 3 ? 0 : FI_DELIVERY_COMPLETE;
            now(d, [&] {
                return told[i] ? fi_tsendmsg(d.a.ep(), &m, FI_COMPLETION | flags)
                               : fi_tinject(d.a.ep(), out[i].data(), out[i].size(), d.to_b, 5);
            });
        }
        if (late) {
            d.settle(1);
            post_receives();
        }
        for (size_t i = 0; i < kAtOnce; ++i) {
            const Outcome o = d.outcome(d.b, &receiving[i]);
            REQUIRE_FALSE(o.error);
            REQUIRE(o.entry.len == out[i].size());
            CHECK(std::equal(out[i].begin(), out[i].end(), in[i].begin()));
            if (told[i]) CHECK_FALSE(d.outcome(d.a, &sending[i]).error);
        }
    }
    CHECK(by_ring(d.a) > 500);
    const auto sent = statistics_of(d.a);
    // What is too long for a ring: of half of the 3000 a sixth, or on hardware nearly all.
    CHECK(sent.sent_eager.classes[3].messages + sent.sent_eager.classes[4].messages > 200);
}

TEST_CASE("a ring that is full keeps nobody waiting") {
    Duo d;
    talk(d, d.a, d.to_b, d.b, 200);
    std::vector<int> numbers(400);
    int sent = 0;
    for (int& number : numbers) { // and b does not look
        number = sent;
        if (fi_tinject(d.a.ep(), &number, sizeof number, d.to_b, 4) != 0) break;
        ++sent;
    }
    for (int i = 0; i < sent; ++i) {
        int in = -1, receiving = 0;
        REQUIRE(fi_trecv(d.b.ep(), &in, sizeof in, nullptr, d.to_a, 4, 0, &receiving) == 0);
        CHECK_FALSE(d.outcome(d.b, &receiving).error);
        CHECK(in == i);
    }
}

TEST_CASE("there are few rings, and they go to those who send most") {
    Crowd c{kRings + 2};
    for (size_t i = 0; i < c.senders.size(); ++i) c.talk(i, 100);
    CHECK(statistics_of(c.one).ring_peers == kRings);
    for (size_t i = 0; i < c.senders.size(); ++i)
        CHECK((by_ring(*c.senders[i]) > 0) == (i < kRings));
    const auto registered = statistics_of(c.one).registered_bytes;
    // The last one goes on alone, and has one of the others' before long.
    c.talk(kRings + 1, 500);
    CHECK(by_ring(*c.senders[kRings + 1]) > 100);
    CHECK(statistics_of(c.one).ring_peers == kRings);
    CHECK(statistics_of(c.one).registered_bytes == registered);
    // Those who had to give theirs back are heard as before.
    for (size_t i = 0; i < c.senders.size(); ++i) c.talk(i, 10);
}

#ifdef ODRC_FAULTS

TEST_CASE("a connection breaks whose messages go into a ring, and each comes once") {
    for (const char* fault : {"ODRC_FAULT_LOST", "ODRC_FAULT_UNACKNOWLEDGED"}) {
        CAPTURE(fault);
        Duo d{kRmaWishes};
        talk(d, d.a, d.to_b, d.b, 200);
        for (int round = 0; round < 20; ++round) {
            // The device looks at its faults when memory is registered.
            setenv(fault, "30", 1);
            const Shared breaking{d.a, 8};
            talk(d, d.a, d.to_b, d.b, 40);
            unsetenv(fault);
            const Shared whole{d.a, 8};
            talk(d, d.a, d.to_b, d.b, 90);
        }
        CHECK(statistics_of(d.a).connections_replaced > 10);
        CHECK(by_ring(d.a) > 500);
    }
}

#endif
