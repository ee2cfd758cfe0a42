// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Sends and atomic operations that are over when the call returns, or were not done
// (verbs::kDeliver), and writes that the program makes itself (verbs::DirectOps).

#include "soft_rig.hpp"
#include "softrc/faults.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>

using namespace rig;
using namespace std::chrono_literals;

namespace {

constexpr int kWritten = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

// Where this side may write to the beginning of the other side's memory.
std::byte* begin_write(Pair& p, uint32_t wrong = 0) {
    return p.a.context().direct().begin_write(p.qa.get(), reinterpret_cast<uint64_t>(p.in_b.data()),
                                              p.mb->rkey + wrong, sizeof(uint64_t));
}

// Writes a number there. False if it has to be posted.
bool deliver(Pair& p, uint64_t number, uint32_t wrong = 0) {
    std::byte* const to = begin_write(p, wrong);
    if (!to) return false;
    std::memcpy(to, &number, sizeof number);
    p.a.context().direct().end_write(p.qa.get());
    return true;
}

// The other side gives its memory up, which waits for a write of this side's that has begun.
std::future<void> give_up(Pair& p) {
    return std::async(std::launch::async, [&p] { p.mb = {}; });
}

// What it gives to deliver bytes of this side's to a receive of the other one's.
int deliver_send(Pair& p, uint32_t bytes, uint32_t wrong = 0) {
    return p.a.post_send(
        p.qa.get(),
        {sge(p.in_a.data(), 8, p.ma->lkey), sge(p.in_a.data() + 8, bytes - 8, p.ma->lkey + wrong)},
        {.opcode = IBV_WR_SEND, .flags = verbs::kDeliver});
}

uint64_t found(const Pair& p) {
    uint64_t number = 0;
    std::memcpy(&number, p.in_b.data(), sizeof number);
    return number;
}

// Words of the other side's, and what it gives to change one of them.
struct Words {
    std::vector<uint64_t> words = std::vector<uint64_t>(8);
    verbs::Mr mr;
    uint64_t found{0};

    explicit Words(Pair& p)
        : mr{p.b.register_memory(words.data(), words.size() * sizeof(uint64_t),
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)} {}

    int add(Pair& p, uint64_t number, uint32_t offset = 0, uint32_t wrong = 0) {
        return change(p, {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                          .flags = verbs::kDeliver,
                          .remote = reinterpret_cast<uint64_t>(words.data()) + offset,
                          .rkey = mr->rkey + wrong,
                          .add = number});
    }
    int swap(Pair& p, uint64_t compared, uint64_t number) {
        return change(p, {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                          .flags = verbs::kDeliver,
                          .remote = reinterpret_cast<uint64_t>(words.data()),
                          .rkey = mr->rkey,
                          .add = compared,
                          .swap = number});
    }

private:
    int change(Pair& p, const Side::Request& request) {
        return p.a.post_send(p.qa.get(), {sge(&found, sizeof found, 0)}, request);
    }
};

// The device says it of itself.
bool delivers() { return soft_device().port().delivers; }

} // namespace

TEST_CASE("a write that the program makes itself takes no room in the send queue") {
    Pair p;
    CHECK(delivers() == !soft::kFaults);
    for (uint64_t i = 1; i <= 100 && delivers(); ++i) { // the send queue has room for 32
        REQUIRE(deliver(p, i));
        CHECK(found(p) == i);
    }
    CHECK_FALSE(p.a.poll());
    REQUIRE(p.b.post_receive(1, p.in_b.data() + 64, 64, p.mb->lkey) == 0);
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {.id = 7}) == 0);
    CHECK(p.a.wait().wr_id == 7);
}

TEST_CASE("memory stays where it is until a write that the program makes itself is over") {
    if (!delivers()) return;
    Pair p;
    REQUIRE(begin_write(p));
    const auto given_up = give_up(p);
    CHECK(given_up.wait_for(20ms) == std::future_status::timeout);
    p.a.context().direct().end_write(p.qa.get());
}

TEST_CASE("of a write that may not be made nothing is left, and the next one may be") {
    Pair p;
    CHECK_FALSE(begin_write(p, 1000));
    auto given_up = give_up(p);
    const bool waits = given_up.wait_for(10s) == std::future_status::timeout;
    if (waits) p.a.context().direct().end_write(p.qa.get()); // so that it ends
    CHECK_FALSE(waits);
    given_up.get();
    p.mb = p.b.register_memory(p.in_b.data(), p.in_b.size(), kWritten);
    CHECK(deliver(p, 3) == delivers());
}

TEST_CASE("nothing is delivered before what waits") {
    Pair p;
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {.id = 1}) == 0);
    CHECK_FALSE(deliver(p, 5));
    CHECK(found(p) == 0);
    REQUIRE(p.b.post_receive(1, p.in_b.data() + 64, 64, p.mb->lkey) == 0);
    CHECK(p.a.wait().wr_id == 1);
    CHECK(deliver(p, 5) == delivers());
}

TEST_CASE("what cannot be delivered breaks nothing") {
    Pair p;
    CHECK_FALSE(deliver(p, 5, 1000));
    CHECK_FALSE(p.a.poll());
    CHECK(deliver(p, 6) == delivers());
    REQUIRE(p.b.to_error(p.qb.get()) == 0);
    CHECK_FALSE(deliver(p, 7));
    CHECK(found(p) == (delivers() ? 6 : 0));
    CHECK_FALSE(p.a.poll());
}

TEST_CASE("a delivered send is there when the call returns, and takes no room") {
    Pair p;
    for (size_t i = 0; i < p.in_a.size(); ++i) p.in_a[i] = static_cast<char>(i);
    for (uint64_t i = 1; i <= 100 && delivers(); ++i) { // the send queue has room for 32
        std::fill(p.in_b.begin(), p.in_b.end(), 0);
        REQUIRE(p.b.post_receive(i, p.in_b.data(), 64, p.mb->lkey) == 0);
        REQUIRE(deliver_send(p, 64) == 0);
        CHECK(std::equal(p.in_a.data(), p.in_a.data() + 64, p.in_b.data()));
        const auto wc = p.b.poll();
        REQUIRE(wc);
        CHECK(wc->wr_id == i);
        CHECK(wc->byte_len == 64);
    }
    CHECK_FALSE(p.a.poll());
}

TEST_CASE("a send that cannot be delivered breaks nothing") {
    Pair p;
    CHECK(deliver_send(p, 64) == EAGAIN); // there is no receive
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 64, p.mb->lkey) == 0);
    CHECK(deliver_send(p, 64, 1000) == EAGAIN); // no such key
    CHECK_FALSE(p.b.poll());
    CHECK(deliver_send(p, 64) == (delivers() ? 0 : EAGAIN));
    CHECK(p.b.poll().has_value() == delivers());
    REQUIRE(p.b.to_error(p.qb.get()) == 0);
    CHECK(deliver_send(p, 64) == EAGAIN);
    CHECK_FALSE(p.a.poll());
}

TEST_CASE("a delivered atomic operation has changed the word when the call returns") {
    Pair p;
    Words w{p};
    const int answer = delivers() ? 0 : EAGAIN;
    for (uint64_t i = 0; i < 100; ++i) { // the send queue has room for 32
        REQUIRE(w.add(p, 2) == answer);
        CHECK(w.found == (delivers() ? 2 * i : 0));
    }
    CHECK(w.swap(p, 200, 7) == answer);
    CHECK(w.words[0] == (delivers() ? 7 : 0));
    CHECK(w.swap(p, 200, 9) == answer); // another value is there, and stays
    CHECK(w.found == w.words[0]);
    CHECK_FALSE(p.a.poll());
}

TEST_CASE("an atomic operation that cannot be delivered breaks nothing") {
    Pair p;
    Words w{p};
    CHECK(w.add(p, 1, 4) == EAGAIN);       // not aligned
    CHECK(w.add(p, 1, 64) == EAGAIN);      // not registered
    CHECK(w.add(p, 1, 0, 1000) == EAGAIN); // no such key
    REQUIRE(p.a.post_send(p.qa.get(), {sge(p.in_a.data(), 8, p.ma->lkey)}, {.id = 1}) == 0);
    CHECK(w.add(p, 1) == EAGAIN); // before what waits
    CHECK(w.words == std::vector<uint64_t>(8));
    REQUIRE(p.b.post_receive(1, p.in_b.data(), 64, p.mb->lkey) == 0);
    CHECK(p.a.wait().wr_id == 1);
    CHECK(w.add(p, 1) == (delivers() ? 0 : EAGAIN));
    REQUIRE(p.b.to_error(p.qb.get()) == 0);
    CHECK(w.add(p, 1) == EAGAIN);
    CHECK(w.words[0] == (delivers() ? 1 : 0));
    CHECK_FALSE(p.a.poll());
}
