// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Connections that the host keeps: whatever the network does to a few packets and what is said of
// them, in whatever order both sides act, all arrive, once each, in their order, and the sender
// hears of it.

#include "hostrc/window.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <doctest/doctest.h>
#include <iterator>
#include <map>
#include <vector>

using namespace odrc;
using namespace odrc::host;

namespace {

constexpr uint32_t kFirstNumber = 0xfffffffe; // they wrap on the way
constexpr uint32_t kPackets = 4;

struct World {
    enum class Word : uint8_t { packet, heard, gap, not_ready };
    struct Datagram {
        Word word;
        uint32_t number; // of the packet, or before which all have come
        auto operator<=>(const Datagram&) const = default;
    };

    OutWindow out{kFirstNumber, 3};
    InWindow in{kFirstNumber};
    uint32_t given{0}; // packets that began
    uint32_t taken{0}; // packets that were taken in
    bool in_order{true};
    std::vector<Datagram> net{};
    // What may still happen.
    int losses, copies, early_alarms, refusals;

    bool over() const { return out.acknowledged() == kFirstNumber + kPackets; }

    void say(Word word, uint32_t number) {
        net.push_back({word, number});
        std::ranges::sort(net); // there is no order
    }
    bool send() {
        const bool left = out.repeats() || given < kPackets;
        if (!out.open() || !left) return false;
        given += !out.repeats();
        say(Word::packet, out.next());
        out.send();
        return true;
    }
    bool hear_nothing() {
        if (out.under_way() == 0) return false;
        if (!net.empty() && early_alarms-- == 0) return false;
        out.silent();
        return true;
    }
    bool lose(size_t i) {
        if (losses-- == 0) return false;
        net.erase(net.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
    }
    bool copy(size_t i) {
        if (copies-- == 0) return false;
        say(net[i].word, net[i].number);
        return true;
    }
    bool find_no_receive(size_t i) {
        if (net[i].word != Word::packet || net[i].number != in.expected() || refusals-- == 0)
            return false;
        net.erase(net.begin() + static_cast<std::ptrdiff_t>(i));
        in.tells_gap();
        say(Word::not_ready, in.expected());
        return true;
    }
    bool deliver(size_t i) {
        const Datagram d = net[i];
        net.erase(net.begin() + static_cast<std::ptrdiff_t>(i));
        if (d.word == Word::packet)
            take(d.number);
        else
            hear(d);
        return true;
    }
    void take(uint32_t number) {
        switch (in.look(number)) {
        case InWindow::Arrival::next:
            in_order = in_order && number == kFirstNumber + taken++;
            in.accept();
            return say(Word::heard, in.expected());
        case InWindow::Arrival::again:
            return say(Word::heard, in.expected());
        case InWindow::Arrival::early:
            if (in.tells_gap()) say(Word::gap, in.expected());
        }
    }
    void hear(const Datagram& d) {
        out.acknowledge(d.number);
        if (d.number != out.acknowledged()) return;
        if (d.word == Word::gap) out.lost();
        if (d.word == Word::not_ready) out.go_back();
    }

    std::vector<uint32_t> key() const {
        std::vector<uint32_t> key(sizeof out / sizeof(uint32_t));
        std::memcpy(key.data(), &out, sizeof out);
        InWindow same = in;
        key.insert(key.end(), {in.expected(), same.tells_gap(), given});
        for (const int left : {losses, copies, early_alarms, refusals})
            key.push_back(static_cast<uint32_t>(left));
        for (const Datagram& d : net) {
            key.push_back(static_cast<uint32_t>(d.word));
            key.push_back(d.number);
        }
        return key;
    }

    std::vector<World> next() const {
        std::vector<World> worlds;
        const auto try_out = [&](auto&& act) {
            World after = *this;
            if (act(after)) worlds.push_back(std::move(after));
        };
        try_out([](World& w) { return w.send(); });
        try_out([](World& w) { return w.hear_nothing(); });
        for (size_t i = 0; i < net.size(); ++i) {
            if (i > 0 && net[i] == net[i - 1]) continue;
            try_out([i](World& w) { return w.deliver(i); });
            try_out([i](World& w) { return w.lose(i); });
            try_out([i](World& w) { return w.copy(i); });
            try_out([i](World& w) { return w.find_no_receive(i); });
        }
        return worlds;
    }
};

} // namespace

TEST_CASE("packets arrive once each and in their order, whatever the network does") {
    std::map<std::vector<uint32_t>, size_t> seen; // and in which order
    std::vector<std::vector<size_t>> before;      // from which others each is reached
    std::vector<size_t> ends;
    constexpr size_t kNone = SIZE_MAX;
    struct Open {
        World world;
        size_t from;
    };
    std::vector<Open> open;
    for (const World& first : {World{.losses = 2, .copies = 0, .early_alarms = 0, .refusals = 0},
                               World{.losses = 1, .copies = 1, .early_alarms = 0, .refusals = 0},
                               World{.losses = 1, .copies = 0, .early_alarms = 1, .refusals = 0},
                               World{.losses = 1, .copies = 0, .early_alarms = 0, .refusals = 1}})
        open.push_back({first, kNone});
    while (!open.empty()) {
        const auto [w, from] = std::move(open.back());
        open.pop_back();
        const auto [state, is_new] = seen.try_emplace(w.key(), seen.size());
        const size_t number = state->second;
        if (is_new) before.emplace_back();
        if (from != kNone) before[number].push_back(from);
        if (!is_new) continue;
        REQUIRE(w.in_order);
        // What was taken in went out, and what was heard of was taken in.
        REQUIRE(w.in.expected() - kFirstNumber <= w.given);
        REQUIRE_FALSE(is_before(w.in.expected(), w.out.acknowledged()));
        REQUIRE(w.out.under_way() <= kPackets);
        if (w.over()) {
            REQUIRE(w.in.expected() == w.out.acknowledged());
            ends.push_back(number);
            continue;
        }
        for (World& next : w.next()) open.push_back({std::move(next), number});
    }
    // From each of them there is a way to the end.
    std::vector<bool> ends_well(seen.size());
    size_t count = 0;
    while (!ends.empty()) {
        const size_t number = ends.back();
        ends.pop_back();
        if (ends_well[number]) continue;
        ends_well[number] = true;
        ++count;
        std::ranges::copy(before[number], std::back_inserter(ends));
    }
    CHECK(count == seen.size());
    MESSAGE(seen.size() << " states");
}

TEST_CASE("a window grows with what arrives, and shrinks with what does not") {
    OutWindow out;
    const auto send = [&](uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) out.send();
    };
    CHECK(out.size() == kFirstWindow);
    send(kFirstWindow);
    CHECK_FALSE(out.open());
    CHECK(out.acknowledge(kFirstWindow) == kFirstWindow);
    CHECK(out.size() == kFirstWindow + 1);
    CHECK(out.acknowledge(kFirstWindow) == 0);
    CHECK(out.acknowledge(kFirstWindow + 1) == 0); // which never went out
    CHECK(out.acknowledge(kFirstWindow - 1) == 0);

    send(10);
    CHECK(out.lost() == 10); // all go again
    CHECK(out.size() == (kFirstWindow + 1) / 2);
    CHECK(out.repeats());
    send(4);
    CHECK(out.lost() == 0); // of the same loss
    CHECK(out.acknowledge(out.acknowledged() + 8) == 8);
    CHECK(out.under_way() == 0); // they had come after all
    CHECK(out.silent() == 0);
    CHECK(out.size() == kLeastWindow);
    for (int i = 0; i < 10000; ++i) {
        out.send();
        out.acknowledge(out.next());
    }
    CHECK(out.size() == kMostWindow);
}
