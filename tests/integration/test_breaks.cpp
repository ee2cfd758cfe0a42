// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Connections that break while something is under way: each operation is done once, whether its
// bytes had come before or not. Empty unless the device can be made to fail.

#include "atomics.hpp"
#include "job.hpp"

#ifdef ODRC_FAULTS

#include <string_view>

using namespace duo;

namespace {

// What happens to a connection, and whether that was made by the addresses alone.
struct Fault {
    const char* name;
    bool laid;
};
constexpr Fault kFaults[] = {{"ODRC_FAULT_LOST", false},
                             {"ODRC_FAULT_LOST", true},
                             {"ODRC_FAULT_UNACKNOWLEDGED", false},
                             {"ODRC_FAULT_UNACKNOWLEDGED", true}};

Wishes wishes_of(uint32_t rank, const Fault& fault) {
    return fault.laid ? place(rank, 2, kAtomicWishes) : kAtomicWishes;
}

// The next work request in this process breaks its connection: the device looks at its faults when
// memory is registered, and again when the next queue pair is connected.
void break_next(const Watched& side, const Fault& fault) {
    setenv(fault.name, "1", 1);
    const Shared any{side, 8};
    unsetenv(fault.name);
}

struct Broken : Duo {
    explicit Broken(const Fault& fault)
        : Duo{wishes_of(0, fault), wishes_of(1, fault)} {
        say('c', 1);
        settle();
        before = statistics_of(b);
        break_next(a, fault);
    }

    // A message from a to b, alone: it has come, and comes no second time.
    void say(char what, size_t size, uint64_t flags = FI_COMPLETION) {
        const auto out = pattern(size, what);
        std::vector<char> in(size), again(size);
        int sending = 0, receiving = 0, none = 0;
        const iovec iov{const_cast<char*>(out.data()), size};
        const fi_msg_tagged m{.msg_iov = &iov,
                              .desc = nullptr,
                              .iov_count = 1,
                              .addr = to_b,
                              .tag = 1,
                              .ignore = 0,
                              .context = &sending,
                              .data = 0};
        if (flags & FI_INJECT)
            REQUIRE(fi_tinject(a.ep(), out.data(), size, to_b, 1) == 0);
        else
            REQUIRE(fi_tsendmsg(a.ep(), &m, flags) == 0);
        REQUIRE(fi_trecv(b.ep(), in.data(), size, nullptr, to_a, 1, 0, &receiving) == 0);
        REQUIRE(fi_trecv(b.ep(), again.data(), size, nullptr, to_a, 1, 0, &none) == 0);
        if (flags & FI_COMPLETION) CHECK_FALSE(outcome(a, &sending).error);
        CHECK_FALSE(outcome(b, &receiving).error);
        CHECK(in == out);
        settle();
        CHECK(a.outcomes.empty());
        CHECK(b.outcomes.empty());
        REQUIRE(fi_cancel(&b.ep()->fid, &none) == 0);
        outcome(b, &none);
    }

    uint64_t repeats_dropped() const {
        return statistics_of(b).repeats_dropped - before.repeats_dropped;
    }
    // One connection took the place of another, and it works.
    void check_replaced() {
        until([&] { return statistics_of(a).connections_replaced == 1; });
        say('k', 8);
        CHECK(statistics_of(a).connections_replaced == 1);
    }

    fi_odrc_statistics before{};
};

} // namespace

TEST_CASE("the connection breaks under a message, which comes once") {
    for (const Fault& fault : kFaults) {
        for (const size_t size : {size_t{0}, size_t{8}, size_t{5000}, size_t{100'000}}) {
            for (const uint64_t flags : {FI_COMPLETION, FI_COMPLETION | FI_DELIVERY_COMPLETE}) {
                CAPTURE(fault.name);
                CAPTURE(fault.laid);
                CAPTURE(size);
                Broken d{fault};
                d.say('m', size, flags);
                d.check_replaced();
            }
        }
    }
}

TEST_CASE("the connection breaks under an injected message, which comes once") {
    for (const Fault& fault : kFaults) {
        for (const size_t size : {size_t{0}, size_t{8}, size_t{1000}}) {
            CAPTURE(fault.name);
            CAPTURE(fault.laid);
            CAPTURE(size);
            Broken d{fault};
            d.say('i', size, FI_INJECT);
            // Nobody was told how that went: what follows it is the first to hear.
            d.say('j', size);
            d.check_replaced();
        }
    }
}

TEST_CASE(
    "the connection breaks under an injected message, and its sender does not look any more") {
    for (const Fault& fault : kFaults) {
        Broken d{fault};
        char in = 0;
        int receiving = 0;
        REQUIRE(fi_trecv(d.b.ep(), &in, 1, nullptr, d.to_a, 1, 0, &receiving) == 0);
        REQUIRE(fi_tinject(d.a.ep(), "i", 1, d.to_b, 1) == 0);
        poll_until(d.b, [&] { return d.b.take(&receiving).has_value(); });
        CHECK(in == 'i');
    }
}

TEST_CASE("the connection breaks under an injected first word, and its sender has never looked") {
    for (const char* fault : {"ODRC_FAULT_LOST", "ODRC_FAULT_UNACKNOWLEDGED"}) {
        Duo d;
        char in = 0;
        int receiving = 0;
        REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, d.to_a, &receiving) == 0);
        setenv(fault, "1", 1);
        REQUIRE(fi_inject(d.a.ep(), "i", 1, d.to_b) == 0);
        poll_until(d.b, [&] { return statistics_of(d.a).connections_made == 1; });
        unsetenv(fault);
        poll_until(d.b, [&] { return d.b.take(&receiving).has_value(); });
        CHECK(in == 'i');
    }
}

TEST_CASE("a repeated message is known by its number, if the peer did not say that it had it") {
    Broken d{kFaults[2]};
    // The peer does not look at what came before the next connection is there.
    int sending = 0;
    REQUIRE(fi_tsend(d.a.ep(), "x", 1, nullptr, d.to_b, 7, &sending) == 0);
    std::optional<Outcome> sent;
    poll_until(d.a, [&] { return (sent = d.a.take(&sending)).has_value(); });
    CHECK_FALSE(sent->error);
    char in[2];
    int receiving[2];
    for (int i = 0; i < 2; ++i)
        REQUIRE(fi_trecv(d.b.ep(), &in[i], 1, nullptr, d.to_a, 7, 0, &receiving[i]) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving[0]).error);
    d.settle();
    CHECK(d.b.outcomes.empty());
    CHECK(d.repeats_dropped() <= 1);
    d.check_replaced();
}

TEST_CASE("the connection breaks under many messages, which keep their order") {
    for (const Fault& fault : kFaults) {
        Broken d{fault};
        constexpr size_t kCount = 300; // more than a connection has under way
        std::vector<uint64_t> out(kCount), in(kCount);
        std::vector<int> sending(kCount), receiving(kCount);
        for (size_t i = 0; i < kCount; ++i) {
            out[i] = i;
            if (i % 3 == 0)
                now(d, [&] { return fi_inject(d.a.ep(), &out[i], 8, d.to_b); });
            else
                now(d, [&] { return fi_send(d.a.ep(), &out[i], 8, nullptr, d.to_b, &sending[i]); });
        }
        for (size_t i = 0; i < kCount; ++i)
            REQUIRE(fi_recv(d.b.ep(), &in[i], 8, nullptr, d.to_a, &receiving[i]) == 0);
        for (size_t i = 0; i < kCount; ++i) CHECK_FALSE(d.outcome(d.b, &receiving[i]).error);
        for (size_t i = 0; i < kCount; ++i)
            if (i % 3) CHECK_FALSE(d.outcome(d.a, &sending[i]).error);
        CHECK(in == out);
        d.check_replaced();
    }
}

TEST_CASE("the connection breaks under reads and writes, which are done") {
    for (const Fault& fault : kFaults) {
        for (const size_t size : {size_t{8}, size_t{5000}, size_t{20} << 20}) {
            CAPTURE(fault.name);
            CAPTURE(fault.laid);
            CAPTURE(size);
            Broken d{fault};
            Shared there{d.b, size};
            break_next(d.a, fault); // the registration has looked, too
            const auto out = pattern(size, 'w');
            std::vector<char> in(size);
            int context = 0;
            const iovec iov{const_cast<char*>(out.data()), size};
            const fi_rma_iov remote{there.at(0), size, there.key()};
            const fi_msg_rma m = rma_message(d.to_b, {&iov, 1}, {&remote, 1}, &context, 5);
            REQUIRE(fi_writemsg(d.a.ep(), &m, FI_COMPLETION | FI_REMOTE_CQ_DATA) == 0);
            CHECK_FALSE(d.outcome(d.a, &context).error);
            CHECK(d.outcome(d.b, nullptr).entry.data == 5);
            CHECK(there.bytes == out);
            d.check_replaced();
            CHECK(d.b.outcomes.empty());

            break_next(d.a, fault);
            REQUIRE(fi_read(d.a.ep(), in.data(), size, nullptr, d.to_b, there.at(0), there.key(),
                            &context) == 0);
            CHECK_FALSE(d.outcome(d.a, &context).error);
            CHECK(in == out);
        }
        Broken d{fault};
        Shared there{d.b, 8};
        break_next(d.a, fault);
        REQUIRE(fi_inject_write(d.a.ep(), "inject!", 8, d.to_b, there.at(0), there.key()) == 0);
        d.until([&] { return there.bytes[0] == 'i'; });
        d.check_replaced();
    }
}

TEST_CASE("the connection breaks under an atomic that the target carries out, once") {
    for (const Fault& fault : kFaults) {
        Broken d{fault};
        Numbers<uint32_t> there{d.b, {40}};
        break_next(d.a, fault);
        const uint32_t two = 2;
        uint32_t seen = 0;
        int context = 0;
        REQUIRE(fi_fetch_atomic(d.a.ep(), &two, 1, nullptr, &seen, nullptr, d.to_b, there.at(0),
                                there.key(), FI_UINT32, FI_SUM, &context) == 0);
        CHECK_FALSE(d.outcome(d.a, &context).error);
        CHECK(seen == 40);
        d.check_replaced();
        CHECK(there.all()[0] == 42);
    }
}

TEST_CASE("the connection breaks under an atomic of the device's, which alone fails") {
    for (const Fault& fault : kFaults) {
        Broken d{fault};
        Numbers<uint64_t> there{d.b, {40}};
        break_next(d.a, fault);
        const uint64_t two = 2;
        uint64_t seen = 0;
        int context = 0, sending = 0, receiving = 0;
        char in = 0;
        REQUIRE(fi_fetch_atomic(d.a.ep(), &two, 1, nullptr, &seen, nullptr, d.to_b, there.at(0),
                                there.key(), FI_UINT64, FI_SUM, &context) == 0);
        REQUIRE(fi_tsend(d.a.ep(), "n", 1, nullptr, d.to_b, 2, &sending) == 0);
        REQUIRE(fi_trecv(d.b.ep(), &in, 1, nullptr, d.to_a, 2, 0, &receiving) == 0);
        const Outcome o = d.outcome(d.a, &context);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_EIO);
        CHECK_FALSE(d.outcome(d.a, &sending).error);
        CHECK_FALSE(d.outcome(d.b, &receiving).error);
        CHECK(in == 'n');
        CHECK((there.all()[0] == 40 || there.all()[0] == 42));
        d.check_replaced();
    }
}

TEST_CASE("a connection by the addresses breaks when it is tried, and the wireup makes another") {
    for (const char* fault : {"ODRC_FAULT_LOST", "ODRC_FAULT_UNACKNOWLEDGED"}) {
        for (const bool both : {false, true}) {
            Duo d{place(0, 2), place(1, 2)};
            break_next(d.a, {fault, true});
            char in[2]{};
            int sending[2], receiving[2];
            REQUIRE(fi_recv(d.b.ep(), &in[0], 1, nullptr, d.to_a, &receiving[0]) == 0);
            REQUIRE(fi_recv(d.a.ep(), &in[1], 1, nullptr, d.to_b, &receiving[1]) == 0);
            REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending[0]) == 0);
            if (both) REQUIRE(fi_send(d.b.ep(), "y", 1, nullptr, d.to_a, &sending[1]) == 0);
            CHECK_FALSE(d.outcome(d.a, &sending[0]).error);
            CHECK_FALSE(d.outcome(d.b, &receiving[0]).error);
            CHECK(in[0] == 'x');
            if (both) CHECK_FALSE(d.outcome(d.b, &sending[1]).error);
            if (both) CHECK_FALSE(d.outcome(d.a, &receiving[1]).error);
            CHECK(in[1] == (both ? 'y' : 0));
            for (const Watched* side : {&d.a, &d.b}) {
                const auto s = statistics_of(*side);
                CHECK(s.connections == 1);
                CHECK(s.connections_replaced == 0);
                CHECK(s.repeats_dropped == 0);
            }
        }
    }
}

TEST_CASE("what the peer had taken when it closed is done") {
    for (const Fault& fault : kFaults) {
        for (const bool inject : {false, true}) {
            CAPTURE(fault.name);
            CAPTURE(fault.laid);
            CAPTURE(inject);
            Watched a{wishes_of(0, fault)};
            std::optional<Watched> b{std::in_place, wishes_of(1, fault)};
            const fi_addr_t to_b = a.endpoint.insert(b->endpoint.name());
            b->endpoint.insert(a.endpoint.name());
            char in[3]{};
            int sending[2], receiving[3];
            for (int i = 0; i < 3; ++i)
                REQUIRE(fi_recv(b->ep(), &in[i], 1, nullptr, FI_ADDR_UNSPEC, &receiving[i]) == 0);
            const auto received = [&](int i) { return b->take(&receiving[i]).has_value(); };
            REQUIRE(fi_send(a.ep(), "c", 1, nullptr, to_b, &sending[0]) == 0);
            std::optional<Outcome> o;
            poll_until(a, [&] { return b->poll(), (o = a.take(&sending[0])).has_value(); });
            poll_until(*b, [&] { return received(0); });

            const bool comes = std::string_view{fault.name} == "ODRC_FAULT_UNACKNOWLEDGED";
            break_next(a, fault);
            if (inject)
                REQUIRE(fi_inject(a.ep(), "i", 1, to_b) == 0);
            else
                REQUIRE(fi_send(a.ep(), "s", 1, nullptr, to_b, &sending[0]) == 0);
            REQUIRE(fi_send(a.ep(), "t", 1, nullptr, to_b, &sending[1]) == 0);
            if (comes) poll_until(*b, [&] { return received(1); });
            b.reset();
            // It may have been quick to make another connection, and take it all.
            for (int i = inject; i < 2; ++i) {
                poll_until(a, [&] { return (o = a.take(&sending[i])).has_value(); });
                if (i == 0 && comes) CHECK_FALSE(o->error);
                if (o->error) CHECK(o->error->err == FI_ECONNRESET);
            }
        }
    }
}

TEST_CASE("connections break one by one, and nothing is lost when one holds at last") {
    Duo d;
    setenv(kFaults[0].name, "1", 1);
    char in = 0;
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, d.to_a, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &sending) == 0);
    d.until([&] { return statistics_of(d.a).connections_made > 8; });
    unsetenv(kFaults[0].name);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(in == 'x');
}

TEST_CASE("a connection that does not hold is given up") {
    Duo d;
    setenv(kFaults[0].name, "1", 1);
    int sending[3];
    for (int& context : sending) REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &context) == 0);
    for (int& context : sending) {
        const Outcome o = d.outcome(d.a, &context);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_ECONNRESET);
    }
    unsetenv(kFaults[0].name);
    // The next one does.
    char in = 0;
    int receiving = 0;
    REQUIRE(fi_send(d.a.ep(), "y", 1, nullptr, d.to_b, &sending[0]) == 0);
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, d.to_a, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.a, &sending[0]).error);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(in == 'y');
}

#endif
