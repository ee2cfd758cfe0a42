// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Queue pairs that are there before anybody wants them: what they save, and how many there are.

#include "counting_device.hpp"
#include "wireup_rig.hpp"

#include <doctest/doctest.h>
#include <thread>

using namespace rig;

namespace {

const Seal kSeal = seal_of("");

// An endpoint on a device that counts, and those who come to it.
struct Stage {
    explicit Stage(uint32_t most)
        : near{kSeal, local(), most, device} {
        count_anew();
    }

    // Somebody asks for a connection. True if the answer was that it is there.
    bool somebody_comes() {
        visitors.push_back(std::make_unique<Far>(kSeal, 100 + visitors.size()));
        Far& far = *visitors.back();
        queue_pairs.push_back(elsewhere.make_qp());
        far.send(near.wireup.address(), request(queue_pairs.back(), 1));
        near.serve();
        const auto answer = far.receive();
        REQUIRE(answer);
        if (answer->type != WireupType::accept) return false;
        far.send(near.wireup.address(), reply(WireupType::confirm, *answer));
        near.serve();
        REQUIRE(near.link_to(far.address()) == Link::ready);
        return true;
    }
    void a_moment_goes_by() {
        for (int i = 0; i < 12; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{3});
            near.serve();
        }
    }
    int standing() const { return device.calls().standing(); }
    void count_anew() {
        device.calls() = {};
        began = Clock::now();
    }
    // Since then: too little time has gone by for a spare queue pair to be made. On a busy machine
    // it may have.
    bool is_at_once() const { return Clock::now() < began + std::chrono::milliseconds{2}; }

    CountingDevice device{rig::device()};
    Near near;
    Room elsewhere;
    std::vector<std::unique_ptr<Far>> visitors;
    std::vector<verbs::QueuePair> queue_pairs;
    Time began;
};

} // namespace

TEST_CASE("an endpoint to which nobody speaks has no spare queue pair") {
    Stage stage{1000};
    stage.a_moment_goes_by();
    CHECK(stage.device.calls().created == 0);
    CHECK(stage.near.wireup.spare_due() == kNever);
}

TEST_CASE("a request that comes by itself is answered with two calls to the device") {
    Stage stage{1000};
    REQUIRE(stage.somebody_comes());
    if (stage.is_at_once()) CHECK(stage.standing() == 1);
    for (int i = 2; i < 10; ++i) {
        if (stage.is_at_once()) CHECK(stage.near.wireup.spare_due() != kNever);
        stage.a_moment_goes_by();
        CHECK(stage.near.wireup.spare_due() == kNever);
        stage.count_anew();
        REQUIRE(stage.somebody_comes());
        if (!stage.is_at_once()) continue;
        CHECK(stage.device.calls().created == 0);
        CHECK(stage.device.calls().modified == 2);
    }
}

TEST_CASE("there are as many spare queue pairs as were wanted, up to a few") {
    Stage stage{1000};
    for (int lanes = 1; lanes < 8; ++lanes) {
        REQUIRE(stage.somebody_comes());
        stage.a_moment_goes_by();
        CHECK(stage.standing() == lanes + std::min(lanes, 4));
    }
}

TEST_CASE("of many who come at once, the first find a spare queue pair, and all find one") {
    Stage stage{1000};
    for (int i = 0; i < 4; ++i) REQUIRE(stage.somebody_comes());
    stage.a_moment_goes_by();
    stage.count_anew();
    for (int i = 0; i < 10; ++i) REQUIRE(stage.somebody_comes());
    if (stage.is_at_once()) CHECK(stage.device.calls().created == 6);
}

TEST_CASE("lanes and spare queue pairs together are never more than there may be") {
    for (const uint32_t most : {1u, 2u, 3u, 6u}) {
        Stage stage{most};
        for (uint32_t i = 0; i < most; ++i) {
            REQUIRE(stage.somebody_comes());
            stage.a_moment_goes_by();
            CHECK(stage.standing() <= static_cast<int>(most));
        }
        CHECK(stage.standing() == static_cast<int>(most));
    }
}

TEST_CASE("a device has no more queue pairs: those that are there are given from peer to peer") {
    Stage stage{1000};
    stage.device.calls().most = 3;
    for (int i = 0; i < 3; ++i) REQUIRE(stage.somebody_comes());
    REQUIRE_FALSE(stage.somebody_comes()); // it is to wait
    Far& late = *stage.visitors.back();
    size_t asked_to_leave = 0;
    for (auto& visitor : stage.visitors) {
        const auto message = visitor->receive();
        if (!message || message->type != WireupType::leave) continue;
        ++asked_to_leave;
        visitor->send(stage.near.wireup.address(), reply(WireupType::left, *message));
    }
    CHECK(asked_to_leave == 1);
    for (int i = 0; i < 10 && stage.near.link_to(late.address()) == Link::none; ++i)
        stage.near.serve();
    late.send(stage.near.wireup.address(), request(stage.queue_pairs.back(), 1));
    stage.near.serve();
    CHECK(stage.near.link_to(late.address()) == Link::accepted);
    CHECK(stage.standing() == 3);

    // It has more again, which is found out soon.
    stage.device.calls().most = 4;
    std::this_thread::sleep_for(std::chrono::milliseconds{1100});
    CHECK(stage.somebody_comes());
    CHECK(stage.standing() == 4);
}

TEST_CASE("a device has no queue pair at all: who asks is refused") {
    Stage stage{1000};
    stage.device.calls().most = 0;
    CHECK_FALSE(stage.somebody_comes());
    CHECK(stage.near.link_to(stage.visitors.back()->address()) == Link::none);
}
