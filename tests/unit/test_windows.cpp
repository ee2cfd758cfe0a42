// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Flow control: windows, how they are shared out, and that two sides never wait for each other, for
// every order in which they can act.

#include "srq/window.hpp"
#include "tests/sanitized.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <doctest/doctest.h>
#include <set>
#include <vector>

using namespace odrc;
using namespace odrc::srq;

namespace {

// One side of a conversation, as Engine does it, and what is on its way to it.
struct Side {
    struct Frame {
        bool counted;
        bool by_ring; // of those that are
        uint16_t limit;
        uint32_t sequence;
    };
    uint32_t to_send;
    uint32_t size; // of the window that it gives
    uint32_t ring; // frames that may be in it
    uint32_t sent{0}, received{0};
    uint32_t sent_by_ring{0}, received_by_ring{0}; // since the connection was made
    SendWindow out{};
    ReceiveWindow in{};
    bool owes{false}; // until the end of its batch
    std::vector<Frame> coming{};

    uint32_t sent_in_window() const { return sent - sent_by_ring; }
    uint32_t received_in_window() const { return received - received_by_ring; }
    uint16_t let_come() { return static_cast<uint16_t>(in.widen(received_in_window(), size)); }
    size_t coming_by_ring() const {
        return static_cast<size_t>(
            std::ranges::count_if(coming, [](const Frame& f) { return f.by_ring; }));
    }
    // All that the next steps depend on.
    void append_to(std::vector<uint64_t>& key) const {
        uint64_t windows[2]{};
        std::memcpy(&windows[0], &out, sizeof out);
        std::memcpy(&windows[1], &in, sizeof in);
        key.insert(key.end(), {to_send, sent, received, sent_by_ring, received_by_ring, windows[0],
                               windows[1], owes});
        key.push_back(coming.size());
        for (const Frame& f : coming)
            key.push_back(uint64_t{f.by_ring} << 49 | uint64_t{f.counted} << 48 |
                          uint64_t{f.limit} << 32 | f.sequence);
    }
};

struct Conversation {
    std::array<Side, 2> sides;
    int breaks; // that may still come

    Side& other(size_t i) { return sides[1 - i]; }
    void connect() {
        for (size_t i : {0u, 1u}) {
            Side& side = sides[i];
            side.sent_by_ring = side.received_by_ring = 0;
            side.let_come();
            other(i).out.open_to(side.in.widen(side.received, side.size));
        }
    }
    bool send(size_t i, bool by_ring) {
        Side& side = sides[i];
        if (side.to_send == 0 || !side.out.is_open(side.sent_in_window())) return false;
        if (by_ring && other(i).coming_by_ring() >= other(i).ring) return false;
        --side.to_send;
        side.sent_by_ring += by_ring;
        other(i).coming.push_back({true, by_ring, side.let_come(), side.sent++});
        return true;
    }
    bool grant(size_t i) {
        Side& side = sides[i];
        side.owes = false;
        if (!side.in.is_due(side.received_in_window()))
            return false; // something has said it meanwhile
        other(i).coming.push_back({false, false, side.let_come(), 0});
        return true;
    }
    bool receive(size_t i) {
        Side& side = sides[i];
        if (side.coming.empty()) return false;
        const Side::Frame frame = side.coming.front();
        side.coming.erase(side.coming.begin());
        side.received_by_ring += frame.by_ring;
        if (frame.counted && frame.sequence != side.received) return true; // it had come
        side.out.open_to(frame.limit);
        if (!frame.counted) return true;
        ++side.received;
        if (side.in.is_overdue(side.received_in_window()))
            grant(i);
        else
            side.owes |= side.in.is_due(side.received_in_window());
        return true;
    }
    bool end_batch(size_t i) { return sides[i].owes && (grant(i), true); }
    // What is on its way is lost, and goes again.
    bool break_off() {
        if (breaks == 0) return false;
        --breaks;
        for (size_t i : {0u, 1u}) {
            sides[i].coming.clear();
            sides[i].to_send += sides[i].sent - other(i).received;
            sides[i].sent = other(i).received;
        }
        connect();
        return true;
    }
    // What takes receives of the other side.
    uint32_t unreceived(size_t from) const {
        return sides[from].sent_in_window() - sides[1 - from].received_in_window();
    }
    bool over() const {
        return sides[0].to_send + sides[1].to_send == 0 && sides[0].received == sides[1].sent &&
               sides[1].received == sides[0].sent;
    }
    std::vector<uint64_t> key() const {
        std::vector<uint64_t> key;
        key.reserve(32);
        for (const Side& side : sides) side.append_to(key);
        key.push_back(static_cast<uint64_t>(breaks));
        return key;
    }
};

// All that can be done next.
std::vector<Conversation> next_of(const Conversation& c) {
    std::vector<Conversation> next;
    const auto try_out = [&](auto&& step) {
        Conversation copy = c;
        if (step(copy)) next.push_back(std::move(copy));
    };
    for (size_t i : {0u, 1u}) {
        try_out([&](Conversation& n) { return n.send(i, false); });
        try_out([&](Conversation& n) { return n.send(i, true); });
        try_out([&](Conversation& n) { return n.receive(i); });
        try_out([&](Conversation& n) { return n.end_batch(i); });
    }
    try_out([](Conversation& n) { return n.break_off(); });
    return next;
}

} // namespace

TEST_CASE("a limit opens a window once, however it is said, and beyond the largest number") {
    for (const uint32_t begin : {0u, 0xfff0u, 0x7ffffff8u, 0xfffffff0u}) {
        SendWindow window;
        for (uint64_t at = 0; at < begin; at += 0x4000000)
            window.open_to(static_cast<uint32_t>(at));
        window.open_to(begin);
        CHECK_FALSE(window.is_open(begin));
        CHECK(window.open_to(static_cast<uint16_t>(begin + 20)));
        CHECK(window.is_open(begin));
        CHECK(window.is_open(begin + 19));
        CHECK_FALSE(window.is_open(begin + 20));
        CHECK_FALSE(window.open_to(static_cast<uint16_t>(begin + 20)));
        CHECK_FALSE(window.open_to(static_cast<uint16_t>(begin + 5)));
        CHECK_FALSE(window.is_open(begin + 20));
        CHECK(window.open_to(begin + 20 + kMostWindow));
        CHECK(window.is_open(begin + 20));
    }
}

TEST_CASE("a window that is made smaller takes nothing back, and is due when half of it is used") {
    ReceiveWindow window;
    CHECK(window.widen(0, 64) == 64);
    CHECK_FALSE(window.is_due(31));
    CHECK(window.is_due(32));
    CHECK_FALSE(window.is_overdue(47));
    CHECK(window.is_overdue(48));
    CHECK(window.widen(10, 8) == 64);
    CHECK_FALSE(window.is_due(59));
    CHECK(window.is_due(60));
    CHECK(window.widen(64, 1) == 65);
    CHECK_FALSE(window.is_due(64));
    CHECK(window.is_due(65));
    CHECK(window.is_overdue(70)); // answers have come beside it
}

TEST_CASE("those who send share the receive queue, and those who are silent do not") {
    Shares shares{256};
    CHECK(shares.each() == 192);
    CHECK(shares.first(0) == 64);
    CHECK(shares.first(3) == 32);
    CHECK(shares.first(100'000) == 1);
    CHECK(Shares::first_in_job(1) == 64);
    CHECK(Shares::first_in_job(2) == Shares{128}.first(0)); // as on demand
    CHECK(Shares::first_in_job(16) == 4);
    for (int i = 0; i < 3; ++i) shares.meet();
    CHECK(shares.each() == 64);
    std::array<uint16_t, 1000> heard{};
    for (uint16_t& peer : heard) shares.count(peer);
    CHECK(shares.each() == 1);
    for (int frame = 0; frame < 2100; ++frame) shares.count(heard[frame % 4]);
    CHECK(shares.each() == 48);
    for (int frame = 0; frame < 2100; ++frame) shares.count(heard[0]);
    CHECK(shares.each() == 192);
    CHECK(Shares{1 << 20}.each() == kMostWindow);
}

TEST_CASE("both sides of a conversation hear all, in whatever order they act") {
    size_t looked_at = 0;
    for (const uint32_t a : {1u, 2u, 3u}) {
        for (const uint32_t b : {1u, 2u, 5u}) {
            if (kSanitized && a != b) continue;
            for (const uint32_t back : {0u, 2u}) {
                Conversation begin{{Side{.to_send = 5, .size = a, .ring = 1},
                                    Side{.to_send = back, .size = b, .ring = 2}},
                                   1};
                begin.connect();
                std::set<std::vector<uint64_t>> seen{begin.key()};
                std::vector<Conversation> open{begin};
                while (!open.empty()) {
                    const Conversation c = std::move(open.back());
                    open.pop_back();
                    auto next = next_of(c);
                    const bool only_breaks = next.size() == static_cast<size_t>(c.breaks > 0);
                    // Nobody waits for the other for ever, nor sends too much.
                    if ((only_breaks && !c.over()) || c.unreceived(0) > b || c.unreceived(1) > a)
                        FAIL("windows of " << a << " and " << b << " after " << seen.size());
                    for (Conversation& n : next)
                        if (seen.insert(n.key()).second) open.push_back(std::move(n));
                }
                looked_at += seen.size();
            }
        }
    }
    MESSAGE(looked_at << " states");
    CHECK(looked_at > (kSanitized ? 1000 : 10'000));
}
