// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Connections that the host keeps: whatever the network does to a few packets and what is said of
// them, in whatever order both sides act, all arrive, once each, in their order, and the sender
// hears of it.

#include "hostrc/window.hpp"
#include "tests/sanitized.hpp"

#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

using namespace odrc;
using namespace odrc::host;

namespace {

constexpr uint32_t kFirstNumber = 0xfffffffe; // they wrap on the way
constexpr uint32_t kPackets = 4;
constexpr uint32_t kFirstStamp = 0xffffffff; // and so do these

struct World {
    enum class Word : uint8_t { packet, heard, gap, not_ready };
    struct Datagram {
        Word word;
        uint32_t number; // of the packet, or before which all have come
        uint32_t stamp;  // of the packet, or what is said of that
        uint32_t missing{0};
        auto operator<=>(const Datagram&) const = default;
    };

    OutWindow out{kFirstNumber, 3};
    InWindow in{kFirstNumber};
    uint32_t given{0};         // packets that began
    uint32_t taken{0};         // packets that were taken in
    uint32_t now{kFirstStamp}; // later behind each silence
    bool armed{false};         // the sender's timer
    bool pauses{false};        // until there may be a receive
    bool owes{false};          // an acknowledgement
    bool in_order{true};
    std::vector<Datagram> net{};
    std::map<uint32_t, uint32_t> early{}; // packets that are kept, and their stamps
    // What may still happen.
    int losses{0}, copies{0}, early_alarms{0}, refusals{0};
    int room{kPackets};       // for packets that come before others
    bool refuses_kept{false}; // one of them finds no receive

    bool over() const { return out.acknowledged() == kFirstNumber + kPackets; }

    bool is_sound() const {
        return in_order &&
               // What was taken in went out, and what was heard of was taken in.
               in.expected() - kFirstNumber <= given &&
               !is_before(in.expected(), out.acknowledged()) && out.under_way() <= kPackets &&
               // Something may go out, or will be looked after.
               (over() ? in.expected() == out.acknowledged() : may_send() || armed || pauses);
    }

    void put(const Datagram& d) {
        net.push_back(d);
        std::ranges::sort(net); // there is no order
    }
    bool may_send() const { return out.open() && !pauses && (out.repeats() || given < kPackets); }
    bool send() {
        if (!may_send()) return false;
        given += !out.repeats();
        put({Word::packet, out.next(), now});
        out.send();
        armed = true;
        return true;
    }
    bool hear_nothing() {
        if (!armed || out.under_way() == 0) return false;
        if ((!net.empty() || owes) && early_alarms-- == 0) return false;
        now += !out.in_doubt();
        out.silent(now);
        return true;
    }
    bool end_pause() { return std::exchange(pauses, false); }
    bool pay() {
        if (!owes) return false;
        say(Word::heard);
        return true;
    }
    void say(Word word) {
        put({word, in.expected(), in.pay(), word == Word::gap ? missing() : 0});
        owes = false;
    }
    bool lose(size_t i) {
        if (losses-- == 0) return false;
        net.erase(net.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
    }
    bool copy(size_t i) {
        if (copies-- == 0) return false;
        put(Datagram{net[i]});
        return true;
    }
    bool find_no_receive(size_t i) {
        if (net[i].word != Word::packet || net[i].number != in.expected() || refusals-- == 0)
            return false;
        net.erase(net.begin() + static_cast<std::ptrdiff_t>(i));
        refuse();
        return true;
    }
    void refuse() {
        in.tells_gap();
        say(Word::not_ready);
    }
    bool deliver(size_t i) {
        const Datagram d = net[i];
        net.erase(net.begin() + static_cast<std::ptrdiff_t>(i));
        if (d.word == Word::packet)
            take(d);
        else
            hear(d);
        return true;
    }
    void take(const Datagram& d) {
        const auto arrival = in.look(d.number);
        if (arrival == InWindow::Arrival::next) return take_all(d);
        if (arrival == InWindow::Arrival::again || early.contains(d.number)) return owe(d);
        if (room > 0) {
            --room;
            early.emplace(d.number, d.stamp);
        }
        tell_gap();
    }
    void owe(const Datagram& d) {
        in.owe(d.stamp);
        owes = true;
    }
    void take_all(Datagram d) {
        while (true) {
            in_order = in_order && d.number == kFirstNumber + taken++;
            in.accept();
            owe(d);
            const auto kept = early.extract(in.expected());
            if (!kept) break;
            ++room;
            if (std::exchange(refuses_kept, false)) return refuse();
            d = {Word::packet, kept.key(), kept.mapped()};
        }
        if (!early.empty()) tell_gap();
    }
    uint32_t missing() const {
        uint32_t least = 0;
        for (const auto& [number, stamp] : early)
            least = std::min(least - 1, number - in.expected() - 1) + 1;
        return least;
    }
    void tell_gap() {
        if (in.tells_gap()) say(Word::gap);
    }
    void hear(const Datagram& d) {
        if (out.acknowledge(d.number, d.stamp) > 0) armed = out.under_way() > 0;
        if (d.number != out.acknowledged()) return;
        if (d.word == Word::gap) out.lost(d.missing);
        if (d.word != Word::not_ready) return;
        out.not_ready();
        armed = false;
        pauses = true;
    }

    std::string key() const {
        std::string key(reinterpret_cast<const char*>(&out), sizeof out);
        const auto put_number = [&](uint32_t n) { key += static_cast<char>(n - kFirstNumber); };
        InWindow same = in;
        for (const uint32_t n : {in.expected(), same.pay(), now}) put_number(n);
        for (const bool is : {same.tells_gap(), armed, pauses, owes, refuses_kept}) key += char{is};
        for (const int left : {losses, copies, early_alarms, refusals, room})
            key += static_cast<char>(left);
        key += static_cast<char>(given);
        key += static_cast<char>(early.size());
        for (const auto& [number, stamp] : early) {
            put_number(number);
            put_number(stamp);
        }
        for (const Datagram& d : net) {
            key += static_cast<char>(d.word);
            put_number(d.number);
            put_number(d.stamp);
            key += static_cast<char>(d.missing);
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
        try_out([](World& w) { return w.end_pause(); });
        try_out([](World& w) { return w.pay(); });
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
    std::unordered_map<std::string, size_t> seen; // and in which order
    std::vector<std::vector<size_t>> before;      // from which others each is reached
    std::vector<size_t> ends;
    constexpr size_t kNone = SIZE_MAX;
    struct Open {
        World world;
        size_t from;
    };
    std::vector<Open> open;
    for (const World& first : {
             World{.losses = 2},
             World{.losses = 2, .room = 0},
             World{.losses = 2, .room = 1},
             World{.losses = 1, .copies = 1},
             World{.losses = 1, .early_alarms = 1},
             World{.losses = 1, .refusals = 1},
             World{.losses = 1, .refusals = 1, .room = 0},
             World{.losses = 1, .refuses_kept = true},
             World{.early_alarms = 1, .refusals = 1},
         })
        open.push_back({first, kNone});
    if (kSanitized) open.erase(open.begin() + 4, open.end());
    while (!open.empty()) {
        const auto [w, from] = std::move(open.back());
        open.pop_back();
        const auto [state, is_new] = seen.try_emplace(w.key(), seen.size());
        const size_t number = state->second;
        if (is_new) before.emplace_back();
        if (from != kNone) before[number].push_back(from);
        if (!is_new) continue;
        if (!w.is_sound()) FAIL("after " << seen.size() << " states");
        if (w.over()) {
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
