// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Windows of connections that the host keeps: what goes again when, and how large they are.

#include "hostrc/window.hpp"

#include <doctest/doctest.h>

using namespace odrc::host;

namespace {

constexpr uint32_t kFirstNumber = 0xfffffffe; // they wrap on the way
constexpr uint32_t kFirstStamp = 0xffffffff;  // and so do these

void send(OutWindow& out, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) out.send();
}

} // namespace

TEST_CASE("what was only late goes again once for each silence, and the window is as it was") {
    OutWindow out{kFirstNumber, 8};
    send(out, 8);
    for (uint32_t silence = 0; silence < 6; ++silence) {
        out.silent(kFirstStamp + silence);
        CHECK(out.next() == kFirstNumber);
        CHECK(out.repeats());
        CHECK(out.open());
        out.send();
        CHECK_FALSE(out.open());
        CHECK(out.under_way() == 8);
    }
    CHECK_FALSE(out.lost(0)); // it has gone again already
    CHECK(out.acknowledge(kFirstNumber + 3, kFirstStamp - 1) == 3);
    CHECK(out.size() == 8);
    CHECK_FALSE(out.repeats());
    CHECK(out.under_way() == 5);
    CHECK(out.open());
    CHECK(out.lost(0)); // for the silence hides no loss
    CHECK(out.size() == 4);
}

TEST_CASE("what was lost goes again, all of it, once its repeat is heard of") {
    OutWindow out{kFirstNumber, 8};
    send(out, 8);
    out.silent(kFirstStamp);
    out.silent(kFirstStamp + 1);
    out.send();
    CHECK(out.acknowledge(kFirstNumber + 1, kFirstStamp) == 1);
    CHECK(out.size() == kLeastWindow);
    CHECK(out.under_way() == 0);
    CHECK(out.repeats());
    CHECK(out.next() == kFirstNumber + 1);
    send(out, 2);
    CHECK_FALSE(out.lost(0)); // of the same loss
    CHECK(out.acknowledge(kFirstNumber + 8, kFirstStamp + 2) == 7);
    CHECK_FALSE(out.repeats());
}

TEST_CASE("only what is missing goes again where the receiver keeps what came behind it") {
    OutWindow out{kFirstNumber, 8};
    send(out, 8);
    CHECK(out.acknowledge(kFirstNumber + 1, 0) == 1);
    CHECK(out.lost(2));
    CHECK(out.size() == 4);
    for (const uint32_t number : {1, 2}) {
        CHECK(out.open());
        CHECK(out.repeats());
        CHECK(out.asks());
        CHECK(out.next() == kFirstNumber + number);
        send(out, 1);
    }
    CHECK_FALSE(out.repeats());
    CHECK_FALSE(out.open()); // seven are under way
    CHECK(out.next() == kFirstNumber + 8);
    CHECK(out.acknowledge(kFirstNumber + 5, 0) == 4);
    CHECK(out.lost(1));     // of the same loss: the window is what it is
    CHECK(out.size() == 5); // and grows as ever
    CHECK(out.next() == kFirstNumber + 5);
    CHECK(out.acknowledge(kFirstNumber + 6, 0) == 1); // it had come after all
    CHECK_FALSE(out.repeats());
    CHECK(out.lost(2)); // no more than two are under way: that cannot be
    CHECK(out.size() == 5);
    CHECK(out.next() == kFirstNumber + 6);
    CHECK(out.under_way() == 0); // so both go again
    CHECK(out.lost(1));          // unless that is known before they do
    CHECK(out.under_way() == 2);
}

TEST_CASE(
    "the first of many lost ones goes again after a silence, and then those that are missing") {
    OutWindow out{kFirstNumber, 8};
    send(out, 8);
    out.silent(kFirstStamp);
    CHECK_FALSE(out.lost(1)); // it is about to
    send(out, 1);
    CHECK(out.acknowledge(kFirstNumber + 3, kFirstStamp) == 3);
    CHECK(out.next() == kFirstNumber + 3);
    CHECK(out.lost(2)); // as the same word says
    send(out, 2);
    CHECK(out.next() == kFirstNumber + 8);
    CHECK_FALSE(out.repeats());
}

TEST_CASE("who finds no receive is tried with one packet, and was not silent") {
    OutWindow out{kFirstNumber, 8};
    send(out, 8);
    out.silent(kFirstStamp);
    out.not_ready();
    CHECK(out.size() == 8);
    CHECK(out.repeats());
    send(out, 1);
    CHECK_FALSE(out.open());
    out.silent(kFirstStamp + 1);
    CHECK(out.open());
    send(out, 1);
    CHECK(out.acknowledge(kFirstNumber + 1, kFirstStamp + 1) == 1);
    CHECK(out.open());
    CHECK(out.next() == kFirstNumber + 1);
}

TEST_CASE("an acknowledgement says the stamp for which it is owed longest") {
    InWindow in;
    in.owe(3);
    in.owe(4);
    CHECK(in.pay() == 3);
    CHECK(in.pay() == 3); // nothing has come since
    in.owe(5);
    CHECK(in.pay() == 5);
}

TEST_CASE("a window grows with what arrives, and shrinks with what does not") {
    OutWindow out;
    CHECK(out.size() == kFirstWindow);
    send(out, kFirstWindow);
    CHECK_FALSE(out.open());
    CHECK(out.acknowledge(kFirstWindow, 0) == kFirstWindow);
    CHECK(out.size() == kFirstWindow + 1);
    CHECK(out.acknowledge(kFirstWindow, 0) == 0);
    CHECK(out.acknowledge(kFirstWindow + 1, 0) == 0); // which never went out
    CHECK(out.acknowledge(kFirstWindow - 1, 0) == 0);

    send(out, 10);
    CHECK(out.lost(0));
    CHECK(out.size() == (kFirstWindow + 1) / 2);
    CHECK(out.repeats());
    CHECK(out.under_way() == 0); // all go again
    send(out, 4);
    CHECK_FALSE(out.lost(0)); // of the same loss
    CHECK(out.acknowledge(out.acknowledged() + 8, 0) == 8);
    CHECK(out.under_way() == 0); // they had come after all
    for (int i = 0; i < 10000; ++i) {
        out.send();
        out.acknowledge(out.next(), 0);
    }
    CHECK(out.size() == kMostWindow);
}
