// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages that are a little longer than what goes in one send, and may go in several.

#include "statistics.hpp"

#include <memory>
#include <rdma/fi_tagged.h>
#include <vector>

using namespace duo;

namespace {

constexpr uint64_t kTag = 7;
constexpr size_t kSlice = 8192;

// The device has them go in slices.
bool has_slices(const Watched& side) { return statistics_of(side).sliced_bytes_most > 0; }

// Two that have spoken to each other, and messages from the one to the other.
struct Rig : Duo {
    explicit Rig(const Wishes& wishes = {.caps = kAllCaps})
        : Duo{wishes} {
        char word = 'w', heard = 0;
        REQUIRE(fi_trecv(b.ep(), &heard, 1, nullptr, to_a, 0, 0, &receiving) == 0);
        REQUIRE(fi_tsend(a.ep(), &word, 1, nullptr, to_b, 0, &sending) == 0);
        CHECK_FALSE(outcome(a, &sending).error);
        CHECK_FALSE(outcome(b, &receiving).error);
        settle();
    }

    void send(const std::vector<char>& message, uint64_t tag = kTag) {
        now(*this, [&] {
            return fi_tsenddata(a.ep(), message.data(), message.size(), nullptr, 42, to_b, tag,
                                &sending);
        });
    }

    int sending = 0, receiving = 0;
};

// Several that send to one.
struct Crowd {
    explicit Crowd(size_t count)
        : senders(count) {
        for (auto& sender : senders) {
            sender = std::make_unique<Watched>();
            to.push_back(sender->endpoint.insert(receiver.endpoint.name()));
            receiver.endpoint.insert(sender->endpoint.name());
        }
    }
    void poll() {
        receiver.poll();
        for (auto& sender : senders) sender->poll();
    }

    Watched receiver;
    std::vector<std::unique_ptr<Watched>> senders;
    std::vector<fi_addr_t> to;
};

constexpr size_t kLengths[] = {8193, 12000, 16384, 16385, 20001, 32768, 65535, 65536};

} // namespace

TEST_CASE("the first message of that length goes in slices") {
    for (const size_t length : {8193, 65536, 65537}) {
        CAPTURE(length);
        Rig r;
        const bool sliced = has_slices(r.a) && length <= statistics_of(r.a).sliced_bytes_most;
        const auto out = pattern(length, 's');
        std::vector<char> in(length);
        REQUIRE(fi_trecv(r.b.ep(), in.data(), length, nullptr, r.to_a, kTag, 0, &r.receiving) == 0);
        const auto before = statistics_of(r.a);
        r.send(out);
        const Outcome got = r.outcome(r.b, &r.receiving);
        CHECK_FALSE(got.error);
        CHECK(got.entry.len == length);
        CHECK(got.entry.tag == kTag);
        CHECK(got.entry.data == 42);
        CHECK((got.entry.flags & FI_REMOTE_CQ_DATA) != 0);
        CHECK(got.source == r.to_a);
        CHECK_FALSE(r.outcome(r.a, &r.sending).error);
        CHECK(in == out);
        const auto after = statistics_of(r.a);
        CHECK(messages_of(after.sent_sliced) - messages_of(before.sent_sliced) == (sliced ? 1 : 0));
        CHECK(messages_of(after.sent_announced) - messages_of(before.sent_announced) ==
              (sliced ? 0 : 1));
        if (sliced) CHECK(after.posts - before.posts == (length + kSlice - 1) / kSlice);
        CHECK(after.messages_sent - before.messages_sent == 1);
        CHECK(after.bytes_sent - before.bytes_sent == length);
        CHECK(statistics_of(r.b).messages_received == 2);
        CHECK(statistics_of(r.b).bytes_received == length + 1);
    }
}

TEST_CASE("slices fill a receive in pieces, and no more than there is room for") {
    Rig r;
    for (const size_t length : kLengths) {
        for (const size_t room : {length, length - 1, size_t{9000}, size_t{100}, size_t{0}}) {
            CAPTURE(length);
            CAPTURE(room);
            const auto out = pattern(length, 'p');
            std::vector<char> in(std::max(length, room) + 1, '-');
            const size_t first = room / 3, second = room / 2 - first;
            const iovec pieces[] = {{in.data(), first},
                                    {in.data() + first, second},
                                    {in.data() + first + second, room - first - second}};
            REQUIRE(fi_trecvv(r.b.ep(), pieces, nullptr, 3, FI_ADDR_UNSPEC, kTag, 0,
                              &r.receiving) == 0);
            r.send(out);
            const Outcome got = r.outcome(r.b, &r.receiving);
            REQUIRE(got.error.has_value() == (room < length));
            if (got.error) {
                CHECK(got.error->err == FI_ETRUNC);
                CHECK(got.error->len == std::min(room, length));
                CHECK(got.error->olen == length - room);
            }
            CHECK(std::equal(in.data(), in.data() + std::min(room, length), out.data()));
            CHECK(in[std::min(room, length)] == '-');
            CHECK_FALSE(r.outcome(r.a, &r.sending).error);
        }
    }
}

TEST_CASE("slices that come before their receives wait for them, in their order") {
    Rig r;
    std::vector<std::vector<char>> out;
    std::vector<int> sends(std::size(kLengths)), receives(std::size(kLengths));
    for (const size_t length : kLengths) {
        int& context = sends[out.size()];
        const auto& message =
            out.emplace_back(pattern(length, static_cast<char>('a' + out.size())));
        now(r, [&] {
            return fi_tsend(r.a.ep(), message.data(), length, nullptr, r.to_b, kTag, &context);
        });
    }
    r.settle();
    for (size_t i = 0; i < out.size(); ++i) {
        std::vector<char> in(out[i].size());
        REQUIRE(fi_trecv(r.b.ep(), in.data(), in.size(), nullptr, r.to_a, kTag, 0, &receives[i]) ==
                0);
        CHECK_FALSE(r.outcome(r.b, &receives[i]).error);
        CHECK(in == out[i]);
    }
    for (int& context : sends) CHECK_FALSE(r.outcome(r.a, &context).error);
}

TEST_CASE("slices go where a buffer for many messages has room") {
    Rig r{{.caps = kAllCaps | FI_MULTI_RECV}};
    std::vector<char> buffer(60000, '-');
    const iovec iov{buffer.data(), buffer.size()};
    const fi_msg m{.msg_iov = &iov,
                   .desc = nullptr,
                   .iov_count = 1,
                   .addr = FI_ADDR_UNSPEC,
                   .context = &r.receiving,
                   .data = 0};
    REQUIRE(fi_recvmsg(r.b.ep(), &m, FI_MULTI_RECV) == 0);
    size_t used = 0;
    for (const size_t length : {20000, 100, 30000, 12000}) {
        CAPTURE(length);
        const auto out = pattern(length, 'm');
        now(r, [&] { return fi_send(r.a.ep(), out.data(), length, nullptr, r.to_b, &r.sending); });
        const Outcome got = r.outcome(r.b, &r.receiving);
        CHECK_FALSE(r.outcome(r.a, &r.sending).error);
        const size_t room = std::min(length, buffer.size() - used);
        CHECK(got.error.has_value() == (room < length));
        const void* at = got.error ? got.error->buf : got.entry.buf;
        const uint64_t flags = got.error ? got.error->flags : got.entry.flags;
        CHECK(at == buffer.data() + used);
        CHECK(std::equal(out.data(), out.data() + room, buffer.data() + used));
        used += room;
        CHECK(((flags & FI_MULTI_RECV) != 0) == (used == buffer.size()));
    }
}

TEST_CASE("what is to be confirmed, or waits for others, goes in no slices") {
    for (const uint64_t flag : {FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE, FI_FENCE, FI_MORE}) {
        Rig r{{.caps = kAllCaps | FI_RMA | FI_FENCE, .mr_mode = kRmaMode}};
        const auto out = pattern(16384, 'n');
        std::vector<char> in(out.size());
        REQUIRE(fi_trecv(r.b.ep(), in.data(), in.size(), nullptr, r.to_a, kTag, 0, &r.receiving) ==
                0);
        const iovec iov{const_cast<char*>(out.data()), out.size()};
        const fi_msg_tagged m{.msg_iov = &iov,
                              .desc = nullptr,
                              .iov_count = 1,
                              .addr = r.to_b,
                              .tag = kTag,
                              .ignore = 0,
                              .context = &r.sending,
                              .data = 0};
        REQUIRE(fi_tsendmsg(r.a.ep(), &m, flag | FI_COMPLETION) == 0);
        CHECK_FALSE(r.outcome(r.a, &r.sending).error);
        CHECK_FALSE(r.outcome(r.b, &r.receiving).error);
        CHECK(in == out);
        CHECK(messages_of(statistics_of(r.a).sent_sliced) == 0);
    }
}

// More than there are receives for.
TEST_CASE("of many who send in slices at once to one who does not look, all messages come") {
    constexpr size_t kSenders = 12, kEach = 8;
    Crowd crowd{kSenders};
    std::vector<int> words(kSenders), sends(kSenders * kEach), receives(sends.size());
    const auto finish = [&crowd](Watched& side, const void* context) {
        std::optional<Outcome> found;
        poll_until(crowd, [&] { return (found = side.take(context)).has_value(); });
        return *found;
    };
    for (size_t i = 0; i < kSenders; ++i) {
        REQUIRE(fi_trecv(crowd.receiver.ep(), &receives[i], sizeof(int), nullptr, FI_ADDR_UNSPEC, i,
                         0, &receives[i]) == 0);
        REQUIRE(fi_tsend(crowd.senders[i]->ep(), &words[i], sizeof(int), nullptr, crowd.to[i], i,
                         &words[i]) == 0);
        CHECK_FALSE(finish(*crowd.senders[i], &words[i]).error);
        CHECK_FALSE(finish(crowd.receiver, &receives[i]).error);
    }
    std::vector<std::vector<char>> out;
    std::vector<bool> sent(sends.size());
    for (size_t i = 0; i < sends.size(); ++i)
        out.push_back(pattern(8193 + i * 597, static_cast<char>(i)));
    for (size_t round = 0; round < kEach; ++round) {
        for (size_t s = 0; s < kSenders; ++s) {
            const size_t i = round * kSenders + s;
            sent[i] = fi_tsend(crowd.senders[s]->ep(), out[i].data(), out[i].size(), nullptr,
                               crowd.to[s], s, &sends[i]) == 0;
        }
    }
    for (size_t i = 0; i < sends.size(); ++i) {
        if (!sent[i]) continue;
        std::vector<char> in(out[i].size());
        REQUIRE(fi_trecv(crowd.receiver.ep(), in.data(), in.size(), nullptr, FI_ADDR_UNSPEC,
                         i % kSenders, 0, &receives[i]) == 0);
        CHECK_FALSE(finish(crowd.receiver, &receives[i]).error);
        REQUIRE(in == out[i]);
    }
    uint64_t sliced = 0, announced = 0;
    for (size_t s = 0; s < kSenders; ++s) {
        for (size_t i = s; i < sends.size(); i += kSenders)
            if (sent[i]) CHECK_FALSE(finish(*crowd.senders[s], &sends[i]).error);
        sliced += messages_of(statistics_of(*crowd.senders[s]).sent_sliced);
        announced += messages_of(statistics_of(*crowd.senders[s]).sent_announced);
    }
    CHECK((sliced > 0) == has_slices(*crowd.senders[0]));
    CHECK(sliced + announced == static_cast<uint64_t>(std::ranges::count(sent, true)));
}
