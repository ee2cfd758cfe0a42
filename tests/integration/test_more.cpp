// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// FI_MORE: what it lets the provider hold back goes out with the next call that does not say it,
// with one that fails, and with progress.

#include "far.hpp"
#include "tests/forks.hpp"

using namespace duo;

namespace {

// Messages, each from memory of its own, with their receives posted in order.
struct Batch {
    explicit Batch(size_t n, size_t bytes)
        : out(n)
        , in(n, std::vector<char>(bytes))
        , sending(n)
        , receiving(n) {
        for (size_t i = 0; i < n; ++i) out[i] = pattern(bytes, static_cast<char>(i));
    }

    void post_receives(Watched& side, fi_addr_t from) {
        for (size_t i = 0; i < in.size(); ++i)
            REQUIRE(fi_trecv(side.ep(), in[i].data(), in[i].size(), nullptr, from, 1, 0,
                             &receiving[i]) == 0);
    }
    ssize_t send(Watched& side, fi_addr_t to, size_t i, uint64_t flags) {
        const iovec iov{out[i].data(), out[i].size()};
        const fi_msg_tagged m{.msg_iov = &iov,
                              .desc = nullptr,
                              .iov_count = 1,
                              .addr = to,
                              .tag = 1,
                              .ignore = 0,
                              .context = &sending[i],
                              .data = 0};
        return fi_tsendmsg(side.ep(), &m, flags | FI_COMPLETION);
    }

    std::vector<std::vector<char>> out, in;
    std::vector<int> sending, receiving;
};

// So that what follows goes out with its call.
void connect(Duo& d) {
    Batch hello{1, 1};
    hello.post_receives(d.b, d.to_a);
    REQUIRE(hello.send(d.a, d.to_b, 0, 0) == 0);
    d.outcome(d.a, &hello.sending[0]);
    d.outcome(d.b, &hello.receiving[0]);
}

} // namespace

TEST_CASE("messages of all sizes with more to follow come in order, and none is left behind") {
    Duo d;
    for (const size_t bytes : {size_t{1}, size_t{1000}, size_t{5000}, size_t{20'000}}) {
        for (const uint64_t last : {0ull, FI_MORE, FI_MORE | FI_INJECT}) {
            if (last & FI_INJECT && bytes > 1000) continue;
            CAPTURE(bytes);
            CAPTURE(last);
            constexpr size_t kCount = 150; // more than a connection has under way
            Batch batch{kCount, bytes};
            batch.post_receives(d.b, d.to_a);
            for (size_t i = 0; i < kCount; ++i) {
                const uint64_t flags = i + 1 < kCount ? FI_MORE | (last & FI_INJECT) : last;
                now(d, [&] { return batch.send(d.a, d.to_b, i, flags); });
                if (last & FI_INJECT) std::ranges::fill(batch.out[i], 'X');
            }
            for (size_t i = 0; i < kCount; ++i) {
                CHECK_FALSE(d.outcome(d.b, &batch.receiving[i]).error);
                CHECK_FALSE(d.outcome(d.a, &batch.sending[i]).error);
                CHECK(batch.in[i] == pattern(bytes, static_cast<char>(i)));
            }
        }
    }
}

// more.sh counts the calls.
TEST_CASE("twenty messages with more to follow are one call to the device") {
    Duo d;
    connect(d);
    Batch batch{20, 100};
    batch.post_receives(d.b, d.to_a);
    for (size_t i = 0; i < 20; ++i) REQUIRE(batch.send(d.a, d.to_b, i, i < 19 ? FI_MORE : 0) == 0);
    for (int& receiving : batch.receiving) CHECK_FALSE(d.outcome(d.b, &receiving).error);
    for (int& sending : batch.sending) CHECK_FALSE(d.outcome(d.a, &sending).error);
}

TEST_CASE("what is held back goes with a call that says nothing more, and with one that fails") {
    Duo d;
    connect(d);
    Batch batch{10, 100};
    batch.post_receives(d.b, d.to_a);
    for (size_t i = 0; i < 10; ++i) REQUIRE(batch.send(d.a, d.to_b, i, FI_MORE) == 0);
    SUBCASE("an injected message") { REQUIRE(fi_tinject(d.a.ep(), "i", 1, d.to_b, 7) == 0); }
    SUBCASE("a message to another peer") {
        const fi_addr_t self = d.a.endpoint.insert(d.a.endpoint.name());
        REQUIRE(fi_tinject(d.a.ep(), "i", 1, self, 7) == 0);
    }
    SUBCASE("no such peer") { CHECK(batch.send(d.a, 12345, 0, FI_MORE) == -FI_EINVAL); }
    SUBCASE("no such flag") {
        CHECK(batch.send(d.a, d.to_b, 0, FI_MORE | FI_MULTICAST) == -FI_EBADFLAGS);
    }
    SUBCASE("a read that the endpoint was not opened for") {
        CHECK(fi_read(d.a.ep(), nullptr, 0, nullptr, d.to_b, 0, 0, nullptr) == -FI_EOPNOTSUPP);
    }
    // Without another look of the sender's.
    for (size_t i = 0; i < 10; ++i) {
        CHECK_FALSE(outcome(d.b, &batch.receiving[i]).error);
        CHECK(batch.in[i] == batch.out[i]);
    }
}

TEST_CASE("what is held back goes before the endpoint is closed") {
    Watched b;
    Batch batch{10, 100};
    for (const bool connected : {true, false}) {
        CAPTURE(connected);
        batch.post_receives(b, FI_ADDR_UNSPEC);
        {
            Watched a;
            const fi_addr_t to_b = a.endpoint.insert(b.endpoint.name());
            if (connected) {
                int sending = 0;
                REQUIRE(fi_send(a.ep(), nullptr, 0, nullptr, to_b, &sending) == 0);
                outcome(a, &sending);
            }
            for (size_t i = 0; i < 10; ++i) REQUIRE(batch.send(a, to_b, i, FI_MORE) == 0);
        }
        for (int& receiving : batch.receiving) CHECK_FALSE(outcome(b, &receiving).error);
        CHECK(batch.in == batch.out);
    }
}

namespace {

// Writes and reads of one number, with more to follow.
struct Number {
    explicit Number(Duo& duo)
        : d{duo}
        , there{duo.b, 8} {}

    ssize_t move(bool reads, uint64_t& number, uint64_t key, void* context, uint64_t flags) {
        const iovec iov{&number, sizeof number};
        const fi_rma_iov remote{there.at(0), sizeof number, key};
        const fi_msg_rma m = rma_message(d.to_b, {&iov, 1}, {&remote, 1}, context, number);
        return reads ? fi_readmsg(d.a.ep(), &m, flags) : fi_writemsg(d.a.ep(), &m, flags);
    }

    Duo& d;
    Shared there;
};

} // namespace

TEST_CASE("reads and writes with more to follow keep their order, fenced or not") {
    Wishes wishes = kRmaWishes;
    SUBCASE("that nobody counts") {}
    SUBCASE("that the peer counts") { wishes.caps |= FI_RMA_EVENT; }
    Duo d{wishes};
    Number number{d};
    for (const uint64_t extra : {0ull, FI_FENCE, FI_INJECT, FI_REMOTE_CQ_DATA}) {
        CAPTURE(extra);
        constexpr size_t kRounds = 40;
        std::vector<uint64_t> out(kRounds), in(kRounds);
        std::vector<int> writing(kRounds), reading(kRounds);
        for (size_t i = 0; i < kRounds; ++i) {
            out[i] = i + 1;
            // A write must not overtake the read before it.
            const uint64_t flags = FI_MORE | FI_COMPLETION;
            now(d, [&] {
                return number.move(false, out[i], number.there.key(), &writing[i],
                                   flags | extra | (i > 0 ? FI_FENCE : 0));
            });
            now(d,
                [&] { return number.move(true, in[i], number.there.key(), &reading[i], flags); });
        }
        for (size_t i = 0; i < kRounds; ++i) {
            CHECK_FALSE(d.outcome(d.a, &writing[i]).error);
            CHECK_FALSE(d.outcome(d.a, &reading[i]).error);
            CHECK(in[i] == i + 1);
            if (extra == FI_REMOTE_CQ_DATA) CHECK(d.outcome(d.b, nullptr).entry.data == i + 1);
        }
    }
}

TEST_CASE("a write in the middle of many fails, and all behind it are done") {
    Duo d{kRmaWishes};
    connect(d);
    Number number{d};
    constexpr size_t kCount = 30;
    std::vector<uint64_t> out(kCount);
    std::vector<int> writing(kCount);
    for (size_t i = 0; i < kCount; ++i) {
        const uint64_t key = i == 10 ? 0xfedcba98 : number.there.key();
        REQUIRE(number.move(false, out[i], key, &writing[i], FI_MORE | FI_COMPLETION) == 0);
    }
    for (size_t i = 0; i < kCount; ++i) {
        const Outcome o = d.outcome(d.a, &writing[i]);
        CHECK(o.error.has_value() == (i == 10));
        if (o.error) CHECK(o.error->err == FI_EACCES);
    }
    connect(d); // and it goes on
}

TEST_CASE("the peer of what is held back is killed, and all of it ends" * forks()) {
    Child child{[](Board& board) {
        Far far{board};
        for (;;) far.side.poll(); // until it is killed
    }};
    Watched near;
    const fi_addr_t number = meet(near, child);
    int first = 0;
    REQUIRE(fi_tsend(near.ep(), "f", 1, nullptr, number, 2, &first) == 0);
    CHECK_FALSE(outcome(near, &first).error);
    Batch batch{20, 20'000}; // that nobody receives
    for (size_t i = 0; i < 20; ++i) REQUIRE(batch.send(near, number, i, FI_MORE) == 0);
    child.kill_now();
    for (int& sending : batch.sending) {
        const Outcome o = outcome(near, &sending);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_ECONNRESET);
    }
}
