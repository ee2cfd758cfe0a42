// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Frames are known by their numbers, in the session of their lane and beyond the largest number.

#include "ondemand/peer.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>

using namespace odrc::ondemand;

namespace {

Peer some_peer() {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return Peer{*Address::from(&in, sizeof in)};
}

} // namespace

TEST_CASE("a frame is next, repeated or early, whatever its number") {
    for (const uint32_t first : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
        Peer peer = some_peer();
        peer.received = first;
        const uint32_t session = peer.session;
        CHECK(peer.take_frame(session, first + 1) == Turn::early);
        CHECK(peer.take_frame(session, first) == Turn::next);
        CHECK(peer.take_frame(session, first) == Turn::repeated);
        CHECK(peer.take_frame(session, first - 1000) == Turn::repeated);
        CHECK(peer.take_frame(session, first + 1) == Turn::next);
        CHECK(peer.take_frame(session, first + 3) == Turn::early);
        CHECK(peer.received == first + 2);
    }
}

TEST_CASE("a lane of the session before goes on with that one's numbers, an older one with none") {
    Peer peer = some_peer();
    const uint32_t old = peer.session;
    CHECK(peer.take_frame(old, 0) == Turn::next);
    CHECK(peer.take_frame(old, 1) == Turn::next);
    peer.begin_session();
    CHECK(peer.take_frame(peer.session, 0) == Turn::next);
    CHECK(peer.take_frame(old, 2) == Turn::next);
    CHECK(peer.take_frame(old, 2) == Turn::repeated);
    CHECK(peer.received == 1);
    peer.begin_session();
    CHECK(peer.take_frame(old, 3) == Turn::repeated);
    CHECK(peer.take_frame(peer.session, 0) == Turn::next);
}

TEST_CASE("a frame that goes out again has the number that it had") {
    Peer peer = some_peer();
    peer.sent = 0xffffffff;
    peer.frame_sent(0xffffffff);
    CHECK(peer.sent == 0);
    peer.frame_sent(0);
    peer.frame_sent(0xffffffff);
    CHECK(peer.sent == 1);
    CHECK(odrc::is_before(0xffffffff, 1));
    CHECK_FALSE(odrc::is_before(1, 0xffffffff));
}
