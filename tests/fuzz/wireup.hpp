// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Peers that say anything, in any order, to a wireup: what a fuzzer, or a throw of dice, tells
// them.

#include "tests/unit/wireup_rig.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace fuzz {

using namespace rig;

// One thing to say: the datagram, and what of it is made right before it goes.
enum : uint8_t {
    kSealed = 1,    // with the key
    kMeant = 2,     // for this endpoint, with its ticket
    kAnswers = 4,   // what it said last
    kConnects = 8,  // a queue pair that there is
    kHeadless = 16, // not even the header is right
    kNamed = 32,    // the program wants that peer first
    kSender = 0xc0, // one of four
};
struct Saying {
    uint8_t made_right;
    std::array<std::byte, kWireupBytes> bytes;
};
static_assert(sizeof(Saying) == 1 + kWireupBytes);

inline void must(bool condition, const char* what) {
    if (!condition) throw std::logic_error{what};
}

class Talk {
public:
    explicit Talk(const char* key)
        : near_{seal_of(key), local(), kLanes, device(), true} {
        for (uint64_t i = 0; i < 4; ++i) far_.emplace_back(seal_of(key), 100 + i);
    }

    void say(const Saying& saying) {
        const size_t who = saying.made_right >> 6;
        Far& far = far_[who];
        const Address& to = near_.wireup.address();
        if (saying.made_right & kNamed)
            if (Peer* peer = near_.peers.meet(far.address())) near_.wireup.connect(*peer);
        std::array<std::byte, kWireupBytes> bytes = saying.bytes;
        const WireupDatagram right = right_one(saying.bytes.back());
        if (saying.made_right & kConnects)
            std::copy(right.begin() + kQueuePair, right.end(), bytes.begin() + kQueuePair);
        if (!(saying.made_right & kHeadless)) {
            const std::byte type = bytes[5];
            std::copy_n(right.begin(), kHeader, bytes.begin());
            bytes[5] = std::byte(1 + unsigned(type) % 12);
        }
        auto message = decode(bytes);
        if (message) must(same(encode(*message), bytes), "what is decoded is not what came");
        if (message && saying.made_right & kSealed) {
            if (saying.made_right & kMeant) {
                message->to = heard_[who].endpoint;
                message->ticket = tickets_[who];
            }
            if (saying.made_right & kAnswers) {
                const bool anew = message->type == WireupType::request;
                message->attempt = anew ? ++attempts_ : heard_[who].answered_attempt;
                message->answered_attempt = heard_[who].attempt;
            }
            far.send(to, *message);
        } else {
            far.send_bytes(to, bytes);
        }
        near_.serve();
        while (const auto heard = far.receive()) {
            heard_[who] = *heard;
            if (heard->type == WireupType::ticket) tickets_[who] = heard->ticket;
            must(heard->to == 0 || heard->to == far.endpoint, "it speaks to somebody else");
        }
        must(near_.known() <= far_.size(), "it knows whom there is not");
        must(near_.counters.connections <= kLanes, "it has more connections than it may");
    }

    uint64_t connections_made() const { return near_.counters.connections_made; }

private:
    static constexpr uint32_t kLanes = 3;
    // Where they lie in a datagram.
    static constexpr size_t kHeader = 8, kQueuePair = 52;
    static bool same(const WireupDatagram& a, std::span<const std::byte> b) {
        return std::equal(a.begin(), a.end() - Seal::kBytes, b.begin());
    }
    // On soft0 or on the device, as that says.
    WireupDatagram right_one(std::byte which) const {
        const bool soft = (which & std::byte{1}) != std::byte{};
        WireupMessage m{};
        m.qp = (soft ? room_.on_soft : room_.qp).address();
        m.window = 16;
        m.node = soft ? room_.stations->node() : 0;
        return encode(m);
    }
    struct WithPairs : Room {
        WithPairs()
            : Room{device(), true} {}
        verbs::QueuePair qp = make_qp(), on_soft = make_qp(true);
    } room_;
    Near near_;
    std::deque<Far> far_;
    std::array<WireupMessage, 4> heard_{}; // last
    std::array<uint64_t, 4> tickets_{};
    uint32_t attempts_{0};
};

} // namespace fuzz
