// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages to groups for which nobody posts a receive (fi_odrc.h).

#include "multicasts.hpp"

#include <utility>

using namespace duo;

namespace {

// Members of a group that send to each other, and what each has got.
class Company {
public:
    explicit Company(size_t size)
        : circle{size}
        , group{circle, first(size)}
        , got(size) {}

    fid_mc* mc(size_t rank) const { return group.groups[rank].get(); }
    ssize_t send(size_t rank, std::string_view text, const void* context, uint64_t flags = 0) {
        fid_ep* ep = circle.ep(rank);
        return multicast_ops(ep)->send(ep, mc(rank), text.data(), text.size(), flags,
                                       const_cast<void*>(context));
    }
    void send_now(size_t rank, std::string_view text, const void* context) {
        ssize_t result = -FI_EAGAIN;
        circle.until([&] { return (result = send(rank, text, context)) != -FI_EAGAIN; });
        REQUIRE(result == 0);
    }
    void look(size_t rank) {
        while (const auto message = next_message(circle.ep(rank), mc(rank)))
            got[rank].push_back(*message);
    }
    void look_until(size_t messages) {
        circle.until([&] {
            bool all = true;
            for (size_t rank = 0; rank < circle.size(); ++rank) {
                look(rank);
                all = all && got[rank].size() >= messages;
            }
            return all;
        });
    }

    Circle circle;
    Joined group;
    std::vector<std::vector<Got>> got;
};

std::string text_of(size_t from, size_t number, size_t length) {
    std::string text = std::to_string(from) + ':' + std::to_string(number) + ' ';
    while (text.size() < length) text += static_cast<char>('a' + (text.size() * 7 + number) % 26);
    text.resize(length);
    return text;
}

} // namespace

TEST_CASE("all other members get a message, of any length, and its sender hears that it is done") {
    for (const size_t size : {1, 2, 3, 8}) {
        Company c{size};
        for (const size_t length : {0, 1, 100, 1024, 1025, 8192, 8193, 32768}) {
            const std::string text = text_of(0, length, length);
            const size_t root = length % size;
            c.send_now(root, text, &text);
            const Outcome o = c.circle.outcome(root, &text);
            REQUIRE_FALSE(o.error);
            CHECK((o.entry.flags & FI_SEND) != 0);
            CHECK(o.entry.len == length);
            for (size_t rank = 0; rank < size; ++rank) {
                if (rank == root) continue;
                c.circle.until([&] {
                    c.look(rank);
                    return !c.got[rank].empty();
                });
                REQUIRE(c.got[rank].size() == 1);
                CHECK(c.got[rank][0].text == text);
                CHECK(c.got[rank][0].source == root);
                CHECK(c.got[rank][0].order == FI_ODRC_UNORDERED);
                c.got[rank].clear();
            }
            c.look(root);
            CHECK(c.got[root].empty());
        }
    }
}

TEST_CASE("what makes no sense is refused") {
    Company c{2};
    fid_ep* ep = c.circle.ep(0);
    auto* ops = multicast_ops(ep);
    const std::string long_one(FI_ODRC_MULTICAST_MAX + 1, 'x');
    CHECK(c.send(0, long_one, nullptr) == -FI_EMSGSIZE);
    CHECK(c.send(0, "x", nullptr, FI_INJECT) == -FI_EBADFLAGS);
    CHECK(ops->send(ep, c.mc(0), nullptr, 1, 0, nullptr) == -FI_EINVAL);
    const Watched other{{.caps = kAllCaps}};
    void* none = nullptr;
    CHECK(fi_open_ops(&other.ep()->fid, FI_ODRC_MULTICAST_OPS, 0, &none, nullptr) ==
          -FI_EOPNOTSUPP);
}

TEST_CASE("members pass packets on before their programs look for anything") {
    constexpr size_t kSize = 8, kLength = 20'000;
    Company c{kSize};
    const std::string text = text_of(0, 0, kLength);
    c.send_now(0, text, &text);
    // The last one has it; nobody else has looked.
    c.circle.until([&] {
        c.look(kSize - 1);
        return !c.got[kSize - 1].empty();
    });
    CHECK(c.got[kSize - 1][0].text == text);
    uint64_t forwarded = 0, received = 0;
    for (size_t rank = 0; rank < kSize; ++rank) {
        forwarded += statistics_of(c.circle[rank]).multicast_forwarded;
        received += statistics_of(c.circle[rank]).multicast_received;
    }
    constexpr uint64_t kPackets = 3;
    c.look_until(0);
    c.circle.until([&] {
        received = 0;
        for (size_t rank = 0; rank < kSize; ++rank)
            received += statistics_of(c.circle[rank]).multicast_received;
        return received == (kSize - 1) * kPackets;
    });
    CHECK(statistics_of(c.circle[0]).multicast_sent == kPackets);
    CHECK(forwarded > 0);
    for (size_t rank = 1; rank + 1 < kSize; ++rank) {
        c.look(rank);
        REQUIRE(c.got[rank].size() == 1);
        CHECK(c.got[rank][0].text == text);
    }
}

TEST_CASE(
    "whoever sends as much as it can is stopped by a member that does not receive, and goes on") {
    constexpr size_t kSize = 6, kLength = 8000, kMessages = 60;
    Company c{kSize};
    std::vector<std::string> texts;
    for (size_t i = 0; i < kMessages; ++i) texts.push_back(text_of(0, i, kLength));
    size_t sent = 0, over = 0;
    const auto go_on = [&] {
        while (sent < kMessages && c.send(0, texts[sent], &texts[sent]) == 0) ++sent;
        c.circle.poll();
        while (over < sent && c.circle[0].take(&texts[over])) ++over;
    };
    // All but the last member receive, for as long as anything comes.
    for (size_t quiet = 0, last = 0; quiet < 50; ++quiet) {
        go_on();
        for (size_t rank = 1; rank + 1 < kSize; ++rank) c.look(rank);
        const size_t now = sent + over + c.got[1].size();
        if (std::exchange(last, now) != now) quiet = 0;
    }
    const uint64_t held = c.got[1].size();
    CHECK(held < kMessages / 2);
    CHECK(over <= held);
    c.circle.until([&] {
        go_on();
        bool all = true;
        for (size_t rank = 1; rank < kSize; ++rank) {
            c.look(rank);
            all = all && c.got[rank].size() == kMessages;
        }
        return all && over == kMessages;
    });
    for (size_t rank = 1; rank < kSize; ++rank)
        for (size_t i = 0; i < kMessages; ++i) REQUIRE(c.got[rank][i].text == texts[i]);
}

// Each member is in the middle of the others' trees, and holds what they have sent while its own
// waits for them. Were packets not always taken in, or were there no bound that lets them be, each
// would wait for room at another.
TEST_CASE("all send at once, over groups that cross, much more than anybody holds") {
    constexpr size_t kSize = 6, kMessages = 150, kLength = 12'000;
    Circle circle{kSize};
    const Joined all{circle, first(kSize)};
    const Joined back{circle, {5, 3, 1, 0, 2, 4}};
    struct Membership {
        const Joined* group;
        size_t place, rank;
    };
    std::vector<Membership> places;
    for (const Joined* group : {&all, &back})
        for (size_t place = 0; place < kSize; ++place)
            places.push_back({group, place, group->ranks[place]});
    std::vector<std::vector<std::string>> texts(places.size());
    std::vector<size_t> sent(places.size()), over(places.size());
    std::vector<std::map<fi_addr_t, size_t>> got(places.size());
    for (size_t p = 0; p < places.size(); ++p)
        for (size_t i = 0; i < kMessages; ++i)
            texts[p].push_back(text_of(places[p].rank, i, i % 3 ? 50 : kLength));
    const auto index_in = [&](const Joined* group, fi_addr_t rank) {
        size_t p = 0;
        while (places[p].group != group || places[p].rank != rank) ++p;
        return p;
    };
    circle.until([&] {
        bool done = true;
        for (size_t p = 0; p < places.size(); ++p) {
            fid_ep* ep = circle.ep(places[p].rank);
            fid_mc* mc = places[p].group->groups[places[p].place].get();
            while (sent[p] < kMessages &&
                   multicast_ops(ep)->send(ep, mc, texts[p][sent[p]].data(),
                                           texts[p][sent[p]].size(), 0, &texts[p][sent[p]]) == 0)
                ++sent[p];
            while (over[p] < sent[p] && circle[places[p].rank].take(&texts[p][over[p]])) ++over[p];
            while (const auto message = next_message(ep, mc)) {
                size_t& next = got[p][message->source];
                REQUIRE(message->text == texts[index_in(places[p].group, message->source)][next]);
                ++next;
            }
            done = done && over[p] == kMessages && got[p].size() == kSize - 1 &&
                   std::ranges::all_of(got[p],
                                       [&](const auto& from) { return from.second == kMessages; });
        }
        circle.poll();
        return done;
    });
}

TEST_CASE("messages may be released in another order, and late") {
    constexpr size_t kMessages = 20;
    Company c{3};
    std::vector<std::string> texts;
    for (size_t i = 0; i < kMessages; ++i) texts.push_back(text_of(0, i, i % 2 ? 10 : 5000));
    for (const std::string& text : texts) c.send_now(0, text, &text);
    for (size_t rank = 1; rank < 3; ++rank) {
        fid_ep* ep = c.circle.ep(rank);
        std::vector<fi_odrc_multicast> held;
        c.circle.until([&] {
            fi_odrc_multicast message{};
            const ssize_t n = multicast_ops(ep)->receive(ep, c.mc(rank), &message);
            REQUIRE(n >= 0);
            if (n == 1) held.push_back(message);
            return held.size() == 8; // more than that may have to wait for these
        });
        std::ranges::reverse(held);
        for (size_t i = 0; i < held.size(); ++i) {
            const std::string& text = texts[7 - i];
            CHECK(std::string_view{static_cast<const char*>(held[i].data), held[i].length} == text);
            multicast_ops(ep)->release(ep, c.mc(rank), &held[i]);
        }
    }
    c.circle.until([&] {
        c.look(1);
        c.look(2);
        return c.got[1].size() == kMessages - 8 && c.got[2].size() == kMessages - 8;
    });
}

TEST_CASE("ordered messages come in one order at all members, their senders among them") {
    constexpr size_t kSize = 5, kMessages = 12;
    Company c{kSize};
    std::vector<std::vector<std::string>> texts(kSize);
    std::vector<size_t> sent(kSize), over(kSize);
    for (size_t rank = 0; rank < kSize; ++rank)
        for (size_t i = 0; i < kMessages; ++i)
            texts[rank].push_back(text_of(rank, i, i % 4 ? 40 : 9000));
    c.circle.until([&] {
        bool done = true;
        for (size_t rank = 0; rank < kSize; ++rank) {
            while (sent[rank] < kMessages && c.send(rank, texts[rank][sent[rank]],
                                                    &texts[rank][sent[rank]], FI_ODRC_ORDERED) == 0)
                ++sent[rank];
            while (over[rank] < sent[rank] && c.circle[rank].take(&texts[rank][over[rank]]))
                ++over[rank];
            c.look(rank);
            done = done && over[rank] == kMessages && c.got[rank].size() == kSize * kMessages;
        }
        return done;
    });
    std::vector<size_t> next(kSize);
    for (size_t i = 0; i < kSize * kMessages; ++i) {
        const Got& message = c.got[0][i];
        CHECK(message.order == i);
        REQUIRE(message.source < kSize);
        CHECK(message.text == texts[message.source][next[message.source]++]);
        for (size_t rank = 1; rank < kSize; ++rank) {
            CHECK(c.got[rank][i].order == i);
            CHECK(c.got[rank][i].text == message.text);
        }
    }
}
