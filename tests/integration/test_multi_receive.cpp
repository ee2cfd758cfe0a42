// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// FI_MULTI_RECV of fi_msg(3): one buffer for many messages.

#include "duo.hpp"

using namespace duo;

namespace {

constexpr uint64_t kCaps = kAllCaps | FI_MULTI_RECV;
constexpr uint64_t kReceived = FI_MSG | FI_RECV;

struct Memory {
    std::vector<char> buffer;
    std::deque<std::vector<char>> sent;
};

// Two endpoints, and a buffer at the second one, which outlives them.
struct Rig : Memory, Duo {
    explicit Rig(size_t size, size_t least, Wishes wishes = {.caps = kCaps})
        : Memory{.buffer = std::vector<char>(size), .sent = {}}
        , Duo{wishes} {
        REQUIRE(fi_setopt(&b.ep()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                          sizeof least) == 0);
    }

    int post(void* context, uint64_t flags = FI_MULTI_RECV) {
        const iovec iov{buffer.data(), buffer.size()};
        const fi_msg m{.msg_iov = &iov,
                       .desc = nullptr,
                       .iov_count = 1,
                       .addr = FI_ADDR_UNSPEC,
                       .context = context,
                       .data = 0};
        return static_cast<int>(fi_recvmsg(b.ep(), &m, flags));
    }

    void send(std::vector<char> message) {
        const auto& kept = sent.emplace_back(std::move(message));
        now(*this,
            [&] { return fi_send(a.ep(), kept.data(), kept.size(), nullptr, to_b, &sending); });
    }

    // The next message is one of these bytes, at that place of the buffer.
    void expect(const Outcome& o, size_t at, const std::vector<char>& message) {
        CHECK(o.entry.buf == buffer.data() + at);
        REQUIRE(o.entry.len == message.size());
        CHECK(std::equal(message.begin(), message.end(), buffer.data() + at));
    }

    int sending = 0, receiving = 0;
};

} // namespace

TEST_CASE("messages are packed into one buffer, and the last one gives it back") {
    Rig r{1000, 300};
    REQUIRE(r.post(&r.receiving) == 0);
    size_t at = 0;
    for (const size_t size : {100, 0, 299, 301, 7}) { // 293 bytes are left, too few
        const auto message = pattern(size, static_cast<char>(size));
        r.send(message);
        const Outcome o = r.outcome(r.b, &r.receiving);
        r.expect(o, at, message);
        at += size;
        CHECK(o.entry.flags == (kReceived | (1000 - at < 300 ? FI_MULTI_RECV : 0)));
    }
    // The buffer is not posted any more.
    r.send(pattern(1, 'x'));
    r.settle();
    CHECK(r.b.outcomes.empty());
    CHECK(fi_cancel(&r.b.ep()->fid, &r.receiving) == -FI_ENOENT);
}

TEST_CASE("a buffer for many messages takes those that came before it") {
    Rig r{100, 40};
    for (char c = 'a'; c < 'e'; ++c) r.send(pattern(31, c));
    r.settle();
    REQUIRE(r.post(&r.receiving) == 0);
    r.expect(r.outcome(r.b, &r.receiving), 0, pattern(31, 'a'));
    const Outcome last = r.outcome(r.b, &r.receiving);
    r.expect(last, 31, pattern(31, 'b'));
    CHECK(last.entry.flags == (kReceived | FI_MULTI_RECV));
    r.settle();
    CHECK(r.b.outcomes.empty());
    // The others wait for the next one.
    REQUIRE(r.post(&r.receiving) == 0);
    r.expect(r.outcome(r.b, &r.receiving), 0, pattern(31, 'c'));
    r.expect(r.outcome(r.b, &r.receiving), 31, pattern(31, 'd'));
}

TEST_CASE("long messages share a buffer with short ones, and the last to end gives it back") {
    Rig r{1'000'000, 10'000};
    const auto longer = pattern(700'000, 'l'), shorter = pattern(5'000, 's'),
               rest = pattern(290'000, 'r');
    REQUIRE(r.post(&r.receiving) == 0);
    r.send(longer);
    r.send(shorter);
    r.send(rest);
    r.send(shorter); // 5,000 are left: this one does not belong there any more
    std::vector<Outcome> outcomes;
    for (int i = 0; i < 3; ++i) outcomes.push_back(r.outcome(r.b, &r.receiving));
    for (size_t i = 0; i < 3; ++i)
        CHECK(outcomes[i].entry.flags == (kReceived | (i == 2 ? FI_MULTI_RECV : 0)));
    std::ranges::sort(outcomes, {}, [](const Outcome& o) { return o.entry.buf; });
    r.expect(outcomes[0], 0, longer);
    r.expect(outcomes[1], 700'000, shorter);
    r.expect(outcomes[2], 705'000, rest);
    r.settle();
    CHECK(r.b.outcomes.empty());
}

TEST_CASE("a message that is longer than what is left is cut, and the buffer is used up") {
    for (const size_t size : {size_t{600}, size_t{60'000}}) {
        CAPTURE(size);
        Rig r{1000, 1};
        REQUIRE(r.post(&r.receiving) == 0);
        r.send(pattern(500, '1'));
        r.expect(r.outcome(r.b, &r.receiving), 0, pattern(500, '1'));
        r.send(pattern(size, '2'));
        const Outcome o = r.outcome(r.b, &r.receiving);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_ETRUNC);
        CHECK(o.error->flags == (kReceived | FI_MULTI_RECV));
        CHECK(o.error->len == 500);
        CHECK(o.error->olen == size - 500);
        CHECK(o.error->buf == r.buffer.data() + 500);
        const auto whole = pattern(size, '2');
        CHECK(std::equal(whole.begin(), whole.begin() + 500, r.buffer.begin() + 500));
    }
}

TEST_CASE("a buffer for many messages can be taken back") {
    Rig r{300'000, 1000};
    SUBCASE("unused, or used in part") {
        for (const bool used : {false, true}) {
            REQUIRE(r.post(&r.receiving) == 0);
            if (used) {
                r.send(pattern(10, 'u'));
                r.expect(r.outcome(r.b, &r.receiving), 0, pattern(10, 'u'));
            }
            REQUIRE(fi_cancel(&r.b.ep()->fid, &r.receiving) == 0);
            const Outcome o = r.outcome(r.b, &r.receiving);
            REQUIRE(o.error);
            CHECK(o.error->err == FI_ECANCELED);
            CHECK(o.error->flags == (kReceived | FI_MULTI_RECV));
        }
    }
    SUBCASE("while a long message is on its way into it") {
        REQUIRE(r.post(&r.receiving) == 0);
        const auto longer = pattern(200'000, 'l');
        r.send(longer);
        // The receiver looks at what came, but the message cannot have come whole: its sender has
        // not been told of the end.
        ssize_t canceled = -FI_ENOENT;
        r.until([&] { return (canceled = fi_cancel(&r.b.ep()->fid, &r.receiving)) == 0; });
        const Outcome first = r.outcome(r.b, &r.receiving);
        if (!first.error) { // it had begun
            r.expect(first, 0, longer);
            CHECK(r.outcome(r.b, &r.receiving).error->err == FI_ECANCELED);
        } else {
            CHECK(first.error->err == FI_ECANCELED);
        }
        r.settle();
        CHECK(r.b.outcomes.empty());
    }
    SUBCASE("with the endpoint") {
        REQUIRE(r.post(&r.receiving) == 0);
        r.send(pattern(200'000, 'l'));
    }
}

TEST_CASE("receives of both kinds get messages in the order in which they were posted") {
    Rig r{64, 8};
    char first[4], last[4];
    int f = 0, l = 0;
    REQUIRE(fi_recv(r.b.ep(), first, 4, nullptr, FI_ADDR_UNSPEC, &f) == 0);
    REQUIRE(r.post(&r.receiving) == 0);
    REQUIRE(fi_recv(r.b.ep(), last, 4, nullptr, FI_ADDR_UNSPEC, &l) == 0);
    for (char c = 'a'; c < 'g'; ++c) r.send(pattern(c == 'a' || c == 'f' ? 4 : 15, c));
    r.outcome(r.b, &f);
    for (size_t i = 0; i < 4; ++i)
        r.expect(r.outcome(r.b, &r.receiving), 15 * i, pattern(15, static_cast<char>('b' + i)));
    r.outcome(r.b, &l);
    CHECK(first[0] == 'a');
    CHECK(last[0] == 'f');
}

TEST_CASE("each message is counted, and the end of the buffer is always told") {
    Rig r{100, 30, {.caps = kCaps, .selective = true, .counters = true}};
    REQUIRE(r.post(&r.receiving) == 0);
    for (int i = 0; i < 4; ++i)
        now(r, [&] { return fi_inject(r.a.ep(), pattern(20, 'q').data(), 20, r.to_b); });
    const Outcome o = r.outcome(r.b, &r.receiving);
    CHECK(o.entry.flags == (kReceived | FI_MULTI_RECV));
    CHECK(r.b.outcomes.empty());
    CHECK(fi_cntr_read(r.b.endpoint.received()) == 4);
}

TEST_CASE("an endpoint receives many messages by default where it was asked to") {
    Rig r{100, 10};
    uint64_t flags = FI_RECV | FI_MULTI_RECV;
    REQUIRE(fi_control(&r.b.ep()->fid, FI_SETOPSFLAG, &flags) == 0);
    char tagged[8];
    int t = 0;
    REQUIRE(fi_trecv(r.b.ep(), tagged, 8, nullptr, FI_ADDR_UNSPEC, 1, 0, &t) == 0);
    REQUIRE(fi_recv(r.b.ep(), r.buffer.data(), 100, nullptr, FI_ADDR_UNSPEC, &r.receiving) == 0);
    for (const char c : {'a', 'b'}) r.send(pattern(20, c));
    REQUIRE(fi_tinject(r.a.ep(), "tagged", 7, r.to_b, 1) == 0);
    r.expect(r.outcome(r.b, &r.receiving), 0, pattern(20, 'a'));
    r.expect(r.outcome(r.b, &r.receiving), 20, pattern(20, 'b'));
    CHECK(r.outcome(r.b, &t).entry.flags == (FI_TAGGED | FI_RECV));
}

TEST_CASE("what does not go together with many messages is refused") {
    Rig r{100, 10};
    CHECK(r.post(nullptr, FI_MULTI_RECV | FI_PEEK) == -FI_EINVAL);
    CHECK(r.post(nullptr, FI_MULTI_RECV | FI_CLAIM) == -FI_EINVAL);
    const iovec two[] = {{r.buffer.data(), 50}, {r.buffer.data() + 50, 50}};
    const fi_msg pieces{.msg_iov = two,
                        .desc = nullptr,
                        .iov_count = 2,
                        .addr = FI_ADDR_UNSPEC,
                        .context = nullptr,
                        .data = 0};
    CHECK(fi_recvmsg(r.b.ep(), &pieces, FI_MULTI_RECV) == -FI_EINVAL);
    const fi_msg_tagged tagged{.msg_iov = two,
                               .desc = nullptr,
                               .iov_count = 1,
                               .addr = FI_ADDR_UNSPEC,
                               .tag = 0,
                               .ignore = 0,
                               .context = nullptr,
                               .data = 0};
    CHECK(fi_trecvmsg(r.b.ep(), &tagged, FI_MULTI_RECV) == -FI_EINVAL);

    fid* ep = &r.b.ep()->fid;
    size_t value = 0, length = sizeof value;
    CHECK(fi_getopt(ep, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &length) == 0);
    CHECK(value == 10);
    length = 1;
    CHECK(fi_getopt(ep, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &length) == -FI_ETOOSMALL);
    CHECK(length == sizeof value);
    CHECK(fi_setopt(ep, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, 1) == -FI_EINVAL);
    CHECK(fi_setopt(ep, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value, sizeof value) ==
          -FI_ENOPROTOOPT);
    CHECK(fi_getopt(ep, FI_OPT_ENDPOINT + 1, FI_OPT_MIN_MULTI_RECV, &value, &length) ==
          -FI_ENOPROTOOPT);
}
