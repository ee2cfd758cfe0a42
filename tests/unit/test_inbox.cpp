// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/inbox.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <rdma/fi_endpoint.h>
#include <vector>

using namespace odrc;
using namespace odrc::transfer;

namespace {

struct Rig {
    LongLists longs;
    Counters counters;
    Inbox inbox{longs, counters};
    std::vector<char> memory = std::vector<char>(100);

    // Posts one for all of the memory.
    Receive& post(uint64_t flags, size_t least = 0, void* context = nullptr) {
        const iovec piece{memory.data(), memory.size()};
        Receive* receive = inbox.create();
        REQUIRE(receive);
        REQUIRE(receive->pieces.assign({&piece, 1}, longs));
        receive->context = context;
        if (least > 0) receive->many = Many{.least = least};
        inbox.matcher(flags).post(*receive);
        return *receive;
    }
    // For an untagged message.
    Receive* claim(Receive& posted, size_t length) {
        return inbox.claim(inbox.matcher(FI_MSG), posted, length);
    }
};

Message message(size_t length) {
    Message m{};
    m.length = length;
    return m;
}

} // namespace

TEST_CASE("a message that is kept is a copy, and what it takes is counted") {
    Rig rig;
    for (const size_t size : {size_t{0}, Arrived::kInside, Arrived::kInside + 1}) {
        std::vector<std::byte> bytes(size, std::byte{7});
        Message m = message(size);
        m.payload = bytes;
        REQUIRE(rig.inbox.keep(m));
        bytes.assign(size, std::byte{0});
        CHECK(rig.counters.memory_bytes == (size > Arrived::kInside ? size : 0));
        Matcher& matcher = rig.inbox.matcher(FI_MSG);
        Arrived* arrived = matcher.find_arrived(nullptr, 0, 0);
        REQUIRE(arrived);
        const auto payload = arrived->message.payload;
        REQUIRE(payload.size() == size);
        for (const std::byte b : payload) CHECK(b == std::byte{7});
        matcher.take(*arrived);
        rig.inbox.release(*arrived);
        CHECK(rig.counters.memory_bytes == 0);
    }
}

TEST_CASE("tagged messages, untagged ones and parts do not meet each other's receives") {
    Rig rig;
    Receive& tagged = rig.post(FI_TAGGED);
    Message m = message(1);
    CHECK(!rig.inbox.matcher(m).find_receive(m));
    m.flags = wire::kCollective;
    CHECK(&rig.inbox.matcher(m) == &rig.inbox.parts());
    CHECK(!rig.inbox.matcher(m).find_receive(m));
    m.flags = wire::kTagged;
    CHECK(rig.inbox.matcher(m).find_receive(m) == &tagged);
}

TEST_CASE("a claimed receive is posted no more") {
    Rig rig;
    Receive& posted = rig.post(FI_MSG);
    const Message m = message(1);
    CHECK(rig.claim(posted, 1) == &posted);
    CHECK(!rig.inbox.matcher(m).find_receive(m));
    rig.inbox.destroy(posted);
}

TEST_CASE("a receive for many gives its buffer in parts until too little is left") {
    Rig rig;
    int context = 0;
    Receive& whole = rig.post(FI_MSG, 40, &context);
    Matcher& matcher = rig.inbox.matcher(FI_MSG);
    std::vector<Receive*> parts;
    for (const size_t length : {50, 0, 30}) {
        CHECK(matcher.find_receive(message(length)) == &whole);
        parts.push_back(rig.claim(whole, length));
        REQUIRE(parts.back());
        CHECK(parts.back()->whole == &whole);
        CHECK(parts.back()->context == &context);
        CHECK(parts.back()->pieces.bytes == length);
    }
    CHECK(parts[2]->pieces.first() == rig.memory.data() + 50);
    CHECK(whole.many->full);
    CHECK(whole.many->parts == 3);
    CHECK(!matcher.find_receive(message(1)));
}

TEST_CASE("a message that is longer than what is left of the buffer has what is left") {
    Rig rig;
    Receive& whole = rig.post(FI_MSG, 1);
    const Receive* part = rig.claim(whole, 1000);
    REQUIRE(part);
    CHECK(part->pieces.bytes == rig.memory.size());
    CHECK(whole.many->full);
}

TEST_CASE("receives are found by their context, tagged ones first") {
    Rig rig;
    int context = 0, other = 0;
    Receive& untagged = rig.post(FI_MSG, 0, &context);
    Receive& tagged = rig.post(FI_TAGGED, 0, &context);
    CHECK(!rig.inbox.take(&other));
    CHECK(rig.inbox.take(&context) == &tagged);
    CHECK(rig.inbox.take(&context) == &untagged);
    CHECK(!rig.inbox.take(&context));
}

TEST_CASE("what is withdrawn is posted no more; what has parts under way goes with the last") {
    Rig rig;
    rig.post(FI_MSG);
    Receive& whole = rig.post(FI_MSG, 10);
    rig.post(FI_TAGGED);
    REQUIRE(rig.claim(whole, 1));
    rig.inbox.withdraw_all();
    CHECK(rig.inbox.matcher(FI_MSG).posted() == 0);
    CHECK(rig.inbox.matcher(FI_TAGGED).posted() == 0);
    CHECK(whole.many->full);
}

TEST_CASE("a message that is set aside is there for its context alone") {
    Rig rig;
    int context = 0, other = 0;
    const Message m = message(0);
    REQUIRE(rig.inbox.keep(m));
    Arrived* arrived = rig.inbox.matcher(m).find_arrived(nullptr, 0, 0);
    REQUIRE(arrived);
    rig.inbox.set_aside(*arrived, &context);
    CHECK(!rig.inbox.matcher(m).find_arrived(nullptr, 0, 0));
    CHECK(!rig.inbox.find_aside(&other));
    CHECK(rig.inbox.find_aside(&context) == arrived);
    rig.inbox.take_aside(*arrived);
    CHECK(!rig.inbox.find_aside(&context));
    rig.inbox.release(*arrived);
}
