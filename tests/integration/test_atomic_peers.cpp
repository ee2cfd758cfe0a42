// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Atomics, and peers that are not there or not there any more.

#include "atomics.hpp"
#include "far.hpp"
#include "tests/forks.hpp"

using namespace duo;

TEST_CASE("nobody at the address: an atomic ends in an error") {
    Duo d{kAtomicWishes};
    const fi_addr_t number = nobody_beside(d.a);
    uint64_t value = 1;
    int context = 0;
    REQUIRE(fi_atomic(d.a.ep(), &value, 1, nullptr, number, 0, 0, FI_UINT64, FI_SUM, &context) ==
            0);
    const Outcome o = d.outcome(d.a, &context);
    REQUIRE(o.error);
    CHECK(o.error->err == FI_ECONNREFUSED);
    CHECK(o.error->flags == (FI_ATOMIC | FI_WRITE));
}

TEST_CASE("a target is killed, or makes no progress and is killed, and every atomic ends" *
          forks()) {
    struct Offer {
        uint64_t address, key;
    };
    for (const bool polls : {true, false}) {
        CAPTURE(polls);
        Child child{[polls](Board& board) {
            Far far{board, kAtomicWishes};
            const Numbers<uint64_t> memory{far.side, {0}};
            const Offer offer{memory.at(0), memory.key()};
            std::memcpy(board.name, &offer, sizeof offer);
            board.step = 3;
            while (polls || board.step < 4) far.side.poll(); // until it is killed
            board.step = 5;
            for (;;) pause();
        }};
        Watched near{kAtomicWishes};
        const fi_addr_t number = meet(near, child);
        child.await(3);
        Offer offer;
        std::memcpy(&offer, child.board->name, sizeof offer);
        const uint64_t one = 1;
        constexpr size_t kAtomics = 300;
        std::vector<uint64_t> out(kAtomics);
        const auto fetch = [&](size_t i) {
            REQUIRE(fi_fetch_atomic(near.ep(), &one, 1, nullptr, &out[i], nullptr, number,
                                    offer.address, offer.key, FI_UINT64, FI_BXOR, &out[i]) == 0);
        };
        fetch(0);
        CHECK_FALSE(outcome(near, &out[0]).error);
        child.board->step = 4;
        if (!polls) child.await(5);
        for (size_t i = 1; i < kAtomics; ++i) fetch(i);
        child.kill_now();
        for (size_t i = 1; i < kAtomics; ++i) {
            const Outcome o = outcome(near, &out[i]);
            if (o.error) {
                CHECK(o.error->err == FI_ECONNRESET);
                CHECK(o.error->flags == (FI_ATOMIC | FI_READ));
            } else {
                CHECK(polls);
            }
        }
    }
}
