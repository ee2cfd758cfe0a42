// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Peers that are not there, go away, die or speak nonsense.

#include "far.hpp"
#include "tests/forks.hpp"

#include <dirent.h>
#include <random>
#include <thread>
#include <unistd.h>

using namespace duo;

namespace {

sockaddr_in address_of(const Watched& side) {
    sockaddr_in in;
    std::memcpy(&in, side.endpoint.name().data(), sizeof in);
    return in;
}

std::string as_bytes(const sockaddr_in& in) {
    return {reinterpret_cast<const char*>(&in), sizeof in};
}

std::vector<std::string> shared_memory_files() {
    std::vector<std::string> names;
    DIR* dir = opendir("/dev/shm");
    while (const dirent* entry = dir ? readdir(dir) : nullptr) names.emplace_back(entry->d_name);
    if (dir) closedir(dir);
    std::ranges::sort(names);
    return names;
}

} // namespace

TEST_CASE("nobody at the address: its sends end in an error in bounded time, others go on") {
    Duo d;
    const fi_addr_t number = nobody_beside(d.a);
    int lost[3], sending = 0, receiving = 0;
    char byte = 'x', in = 0;
    for (int& context : lost)
        REQUIRE(fi_tsend(d.a.ep(), &byte, 1, nullptr, number, 1, &context) == 0);
    const iovec iov{&byte, 1};
    int injected = 0;
    const fi_msg m{.msg_iov = &iov,
                   .desc = nullptr,
                   .iov_count = 1,
                   .addr = number,
                   .context = &injected,
                   .data = 0};
    REQUIRE(fi_sendmsg(d.a.ep(), &m, FI_INJECT | FI_COMPLETION) == 0);
    REQUIRE(fi_tsend(d.a.ep(), &byte, 1, nullptr, d.to_b, 1, &sending) == 0);
    REQUIRE(fi_trecv(d.b.ep(), &in, 1, nullptr, d.to_a, 1, 0, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    const auto start = Clock::now();
    for (int* context : {&lost[0], &lost[1], &lost[2], &injected}) {
        const Outcome o = d.outcome(d.a, context);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_ECONNREFUSED);
    }
    CHECK(Clock::now() - start < std::chrono::seconds{20});
    CHECK_FALSE(d.outcome(d.a, &sending).error);
}

TEST_CASE("silence at the address: its sends time out" * doctest::test_suite("silence")) {
    // A socket that takes datagrams and never answers.
    Watched a;
    sockaddr_in mute = address_of(a);
    mute.sin_port = 0;
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&mute), sizeof mute) == 0);
    socklen_t length = sizeof mute;
    getsockname(fd, reinterpret_cast<sockaddr*>(&mute), &length);
    const fi_addr_t number = a.endpoint.insert(as_bytes(mute));
    int lost = 0;
    REQUIRE(fi_tsend(a.ep(), "x", 1, nullptr, number, 1, &lost) == 0);
    const Outcome o = outcome(a, &lost);
    REQUIRE(o.error);
    CHECK(o.error->err == FI_ETIMEDOUT);
    close(fd);
}

TEST_CASE("nonsense on the wireup socket is dropped") {
    Duo d;
    const sockaddr_in target = address_of(d.b);
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    std::mt19937 random{5};
    unsigned char bytes[200];
    for (int i = 0; i < 3000; ++i) {
        for (auto& b : bytes) b = static_cast<unsigned char>(random());
        size_t size = random() % sizeof bytes;
        if (i % 3 == 0) { // looks right at first sight
            std::memcpy(bytes, "odrc", 4);
            bytes[4] = i % 2 ? 1 : 2;
            bytes[5] = static_cast<unsigned char>(1 + random() % 6);
            bytes[6] = 56;
            bytes[7] = 0;
            if (i % 9 == 0) size = 56;
        }
        sendto(fd, bytes, size, 0, reinterpret_cast<const sockaddr*>(&target), sizeof target);
        if (i % 100 == 0) d.settle(1);
    }
    close(fd);
    char in = 0;
    int receiving = 0;
    REQUIRE(fi_inject(d.a.ep(), "k", 1, d.to_b) == 0);
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, d.to_a, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(in == 'k');
}

TEST_CASE("both sides begin at once, many times, and every message comes") {
    for (int round = 0; round < 20; ++round) {
        Duo d;
        char in[2];
        int receiving[2];
        REQUIRE(fi_inject(d.a.ep(), "a", 1, d.to_b) == 0);
        REQUIRE(fi_inject(d.b.ep(), "b", 1, d.to_a) == 0);
        REQUIRE(fi_recv(d.a.ep(), &in[0], 1, nullptr, d.to_b, &receiving[0]) == 0);
        REQUIRE(fi_recv(d.b.ep(), &in[1], 1, nullptr, d.to_a, &receiving[1]) == 0);
        d.outcome(d.a, &receiving[0]);
        d.outcome(d.b, &receiving[1]);
        CHECK(in[0] == 'b');
        CHECK(in[1] == 'a');
    }
}

TEST_CASE("who closes right after a send has sent it, though its peer is asleep" * forks()) {
    Child child{[](Board& board) {
        Far far{board};
        std::vector<char> last(1000, 'l');
        for (int i = 0; i < 10; ++i)
            check(fi_inject(far.side.ep(), last.data(), last.size(), far.peer), "fi_inject");
        // The end of the scope closes the endpoint.
    }};
    Watched near;
    meet(near, child);
    CHECK(child.join() == 0); // nobody has polled here yet
    for (int i = 0; i < 10; ++i) {
        std::vector<char> in(1000);
        int receiving = 0;
        REQUIRE(fi_recv(near.ep(), in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        CHECK_FALSE(outcome(near, &receiving).error);
        CHECK(in[999] == 'l');
    }
}

TEST_CASE("a peer that restarts is found again" * forks()) {
    Watched near;
    std::string name;
    for (int life = 0; life < 3; ++life) {
        Child child{[&](Board& board) {
            Watched side;
            std::memcpy(board.name, side.endpoint.name().data(), sizeof(sockaddr_in));
            board.step = 1;
            char in = 0;
            int receiving = 0;
            check(fi_recv(side.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving), "fi_recv");
            while (!side.take(&receiving)) {
                side.poll();
                sched_yield();
            }
            board.step = 2;
            for (;;) pause(); // until it is killed
        }};
        child.await(1);
        const fi_addr_t number = near.endpoint.insert({child.board->name, sizeof(sockaddr_in)});
        int sending = 0;
        REQUIRE(fi_send(near.ep(), "x", 1, nullptr, number, &sending) == 0);
        CHECK_FALSE(outcome(near, &sending).error);
        child.await(2);
    }
}

TEST_CASE("a peer is killed in the middle of long messages, either way" * forks()) {
    const auto files = shared_memory_files();
    {
        Duo d; // bystanders
        Child child{[](Board& board) {
            Far far{board};
            static std::vector<char> big(8 << 20, 'b');
            int out = 0;
            check(fi_tsend(far.side.ep(), big.data(), big.size(), nullptr, far.peer, 1, &out),
                  "fi_tsend");
            board.step = 3;
            for (;;) far.side.poll(); // until it is killed
        }};
        const fi_addr_t number = meet(d.a, child);
        std::vector<char> big(8 << 20), in(8 << 20);
        int sending = 0, receiving = 0;
        // One to the child, which it never receives; one from it, which is received too late.
        REQUIRE(fi_tsend(d.a.ep(), big.data(), big.size(), nullptr, number, 2, &sending) == 0);
        child.await(3);
        d.settle(50);
        child.kill_now();
        REQUIRE(fi_trecv(d.a.ep(), in.data(), in.size(), nullptr, number, 1, 0, &receiving) == 0);
        const Outcome sent = d.outcome(d.a, &sending);
        REQUIRE(sent.error);
        CHECK(sent.error->err == FI_ECONNRESET);
        const Outcome received = d.outcome(d.a, &receiving);
        REQUIRE(received.error);
        CHECK(received.error->err == FI_ECONNRESET);

        // Others are none the worse.
        char byte = 0;
        int context = 0;
        REQUIRE(fi_inject(d.a.ep(), "o", 1, d.to_b) == 0);
        REQUIRE(fi_recv(d.b.ep(), &byte, 1, nullptr, d.to_a, &context) == 0);
        CHECK_FALSE(d.outcome(d.b, &context).error);
        // And who is gone is gone.
        REQUIRE(fi_send(d.a.ep(), "?", 1, nullptr, number, &context) == 0);
        const Outcome refused = d.outcome(d.a, &context);
        REQUIRE(refused.error);
        CHECK(refused.error->err == FI_ECONNREFUSED);
    }
    CHECK(shared_memory_files() == files);
}

TEST_CASE("a peer is killed while its long message is being read, again and again" * forks()) {
    for (int round = 0; round < 10; ++round) {
        Child child{[](Board& board) {
            Far far{board};
            static std::vector<char> big(32 << 20, 'b');
            int first = 0, out = 0;
            check(fi_tsend(far.side.ep(), "c", 1, nullptr, far.peer, 7, &first), "fi_tsend");
            far.side.endpoint.wait(&first);
            // Connected: now the announcement is out when the call is back.
            check(fi_tsend(far.side.ep(), big.data(), big.size(), nullptr, far.peer, 1, &out),
                  "fi_tsend");
            board.step = 3;
            for (;;) far.side.poll(); // until it is killed
        }};
        Watched near;
        const fi_addr_t number = meet(near, child);
        std::vector<char> in(32 << 20);
        int receiving = 0;
        REQUIRE(fi_trecv(near.ep(), in.data(), in.size(), nullptr, number, 1, 0, &receiving) == 0);
        child.await(3);
        std::jthread killer{[&] {
            std::this_thread::sleep_for(std::chrono::microseconds{500 * round});
            child.kill_now();
        }};
        const Outcome o = outcome(near, &receiving);
        if (!o.error) CHECK(in.back() == 'b');
    }
}

TEST_CASE("a peer is killed while short messages wait for it, and each of them ends" * forks()) {
    Child child{[](Board& board) {
        const Far far{board};
        board.step = 3;
        for (;;) pause(); // takes nothing until it is killed
    }};
    Watched near;
    const fi_addr_t number = meet(near, child);
    child.await(3);
    const std::vector<char> out(1000);
    std::vector<int> sending(600); // more than there are buffers for
    for (int& context : sending)
        REQUIRE(fi_tsend(near.ep(), out.data(), out.size(), nullptr, number, 1, &context) == 0);
    CHECK_FALSE(outcome(near, &sending[0]).error);
    child.kill_now();
    size_t failed = 0;
    for (size_t i = 1; i < sending.size(); ++i) {
        const Outcome o = outcome(near, &sending[i]);
        if (!o.error) continue;
        CHECK(o.error->err == FI_ECONNRESET);
        ++failed;
    }
    CHECK(failed > 0);
}
