// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_msg(3) and fi_tagged(3)

#include "duo.hpp"

using namespace duo;

TEST_CASE("messages of all sizes come whole, whether or not their receive is posted before") {
    Duo d;
    for (const size_t size : {0, 1, 8, 1000, 1024, 4096, 8191, 8192, 8193, 65536, 1 << 20}) {
        for (const bool early : {true, false}) {
            CAPTURE(size);
            CAPTURE(early);
            const auto out = pattern(size, 'a');
            std::vector<char> in(size);
            int sending = 0, receiving = 0;
            if (early)
                REQUIRE(fi_recv(d.b.ep(), in.data(), size, nullptr, FI_ADDR_UNSPEC, &receiving) ==
                        0);
            REQUIRE(fi_send(d.a.ep(), out.data(), size, nullptr, d.to_b, &sending) == 0);
            if (!early) {
                d.settle(5);
                REQUIRE(fi_recv(d.b.ep(), in.data(), size, nullptr, FI_ADDR_UNSPEC, &receiving) ==
                        0);
            }
            const Outcome received = d.outcome(d.b, &receiving);
            CHECK_FALSE(received.error);
            CHECK(received.entry.len == size);
            CHECK(received.entry.flags == (FI_RECV | FI_MSG));
            CHECK(received.source == d.to_a);
            CHECK(in == out);
            const Outcome sent = d.outcome(d.a, &sending);
            CHECK_FALSE(sent.error);
            CHECK(sent.entry.flags == (FI_SEND | FI_MSG));
        }
    }
}

TEST_CASE("pieces on both sides need not match") {
    Duo d;
    for (const size_t size : {600, 6000, 60000}) {
        CAPTURE(size);
        const auto out = pattern(size, 'q');
        std::vector<char> in(size);
        const iovec from[3] = {{const_cast<char*>(out.data()), size / 2},
                               {const_cast<char*>(out.data()) + size / 2, 0},
                               {const_cast<char*>(out.data()) + size / 2, size - size / 2}};
        iovec to[8];
        for (size_t i = 0; i < 8; ++i)
            to[i] = {in.data() + i * size / 8, (i + 1) * size / 8 - i * size / 8};
        int sending = 0, receiving = 0;
        REQUIRE(fi_trecvv(d.b.ep(), to, nullptr, 8, d.to_a, 5, 0, &receiving) == 0);
        REQUIRE(fi_tsendv(d.a.ep(), from, nullptr, 3, d.to_b, 5, &sending) == 0);
        CHECK(d.outcome(d.b, &receiving).entry.len == size);
        CHECK_FALSE(d.outcome(d.a, &sending).error);
        CHECK(in == out);
    }
}

TEST_CASE("tagged receives match by tag, mask and source; the first posted one wins") {
    Duo d;
    char in[5] = {};
    int exact = 0, masked = 0, any = 0, self = 0;
    const fi_addr_t b_to_itself = d.b.endpoint.insert(d.b.endpoint.name());
    REQUIRE(fi_trecv(d.b.ep(), &in[0], 1, nullptr, b_to_itself, 7, 0, &self) == 0);
    REQUIRE(fi_trecv(d.b.ep(), &in[1], 1, nullptr, d.to_a, 7, 0, &exact) == 0);
    REQUIRE(fi_trecv(d.b.ep(), &in[2], 1, nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &any) == 0);
    REQUIRE(fi_trecv(d.b.ep(), &in[3], 1, nullptr, FI_ADDR_UNSPEC, 0x70, 0xf, &masked) == 0);
    for (const uint64_t tag : {7ull, 0x75ull, 0x76ull}) {
        const char byte = static_cast<char>(tag);
        REQUIRE(fi_tinject(d.a.ep(), &byte, 1, d.to_b, tag) == 0);
    }
    CHECK(d.outcome(d.b, &exact).entry.tag == 7);
    CHECK(in[1] == 7);
    CHECK(d.outcome(d.b, &any).entry.tag == 0x75);
    CHECK(in[2] == 0x75);
    CHECK(d.outcome(d.b, &masked).entry.tag == 0x76);
    CHECK(in[3] == 0x76);
    const char byte = 1;
    REQUIRE(fi_tinject(d.b.ep(), &byte, 1, b_to_itself, 7) == 0); // to itself
    CHECK(d.outcome(d.b, &self).source == b_to_itself);
    CHECK(in[0] == 1);
}

TEST_CASE("an endpoint sends long messages to itself") {
    Duo d;
    const fi_addr_t self = d.a.endpoint.insert(d.a.endpoint.name());
    const auto out = pattern(300'000, 'z');
    std::vector<char> in(out.size());
    int sending = 0, receiving = 0;
    REQUIRE(fi_tsend(d.a.ep(), out.data(), out.size(), nullptr, self, 1, &sending) == 0);
    REQUIRE(fi_trecv(d.a.ep(), in.data(), in.size(), nullptr, self, 1, 0, &receiving) == 0);
    CHECK(d.outcome(d.a, &receiving).entry.len == out.size());
    d.outcome(d.a, &sending);
    CHECK(in == out);
}

TEST_CASE("tagged and untagged messages do not meet") {
    Duo d;
    char in[2] = {};
    int tagged = 0, untagged = 0;
    const char out[2] = {'t', 'u'};
    REQUIRE(fi_recv(d.b.ep(), &in[1], 1, nullptr, FI_ADDR_UNSPEC, &untagged) == 0);
    REQUIRE(fi_trecv(d.b.ep(), &in[0], 1, nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &tagged) == 0);
    REQUIRE(fi_tinject(d.a.ep(), &out[0], 1, d.to_b, 0) == 0);
    REQUIRE(fi_inject(d.a.ep(), &out[1], 1, d.to_b) == 0);
    d.outcome(d.b, &tagged);
    d.outcome(d.b, &untagged);
    CHECK(in[0] == 't');
    CHECK(in[1] == 'u');
}

TEST_CASE("messages of one sender match in order, short and long alike") {
    Duo d;
    constexpr int kMessages = 60;
    std::vector<std::vector<char>> out, in;
    std::vector<int> sending(kMessages), receiving(kMessages);
    for (int i = 0; i < kMessages; ++i) {
        out.push_back(pattern(i % 3 == 0 ? 100'000 : size_t(i), char(i)));
        in.emplace_back(100'000);
    }
    for (size_t i = 0; i < kMessages; ++i)
        REQUIRE(fi_tsend(d.a.ep(), out[i].data(), out[i].size(), nullptr, d.to_b, 3, &sending[i]) ==
                0);
    for (size_t i = 0; i < kMessages; ++i)
        REQUIRE(fi_trecv(d.b.ep(), in[i].data(), in[i].size(), nullptr, d.to_a, 3, 0,
                         &receiving[i]) == 0);
    for (size_t i = 0; i < kMessages; ++i) {
        CHECK(d.outcome(d.b, &receiving[i]).entry.len == out[i].size());
        CHECK_FALSE(d.outcome(d.a, &sending[i]).error);
        in[i].resize(out[i].size());
        CHECK(in[i] == out[i]);
    }
}

TEST_CASE("remote CQ data comes with its message, all 64 bits of it") {
    Duo d;
    constexpr uint64_t kData = 0xfedcba9876543210;
    for (const size_t size : {size_t{8}, size_t{100'000}}) {
        const auto out = pattern(size, 'd');
        std::vector<char> in(size);
        int sending = 0, receiving = 0;
        REQUIRE(fi_recv(d.b.ep(), in.data(), size, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        REQUIRE(fi_senddata(d.a.ep(), out.data(), size, nullptr, kData, d.to_b, &sending) == 0);
        const Outcome received = d.outcome(d.b, &receiving);
        CHECK(received.entry.flags == (FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA));
        CHECK(received.entry.data == kData);
        d.outcome(d.a, &sending);
    }
    int receiving = 0;
    REQUIRE(fi_trecv(d.b.ep(), nullptr, 0, nullptr, FI_ADDR_UNSPEC, 1, 0, &receiving) == 0);
    REQUIRE(fi_tinjectdata(d.a.ep(), nullptr, 0, 7, d.to_b, 1) == 0);
    CHECK(d.outcome(d.b, &receiving).entry.data == 7);
}

TEST_CASE("injected memory is free when the call is back, connected or not") {
    Duo d;
    std::vector<char> out(d.a.endpoint.info().tx_attr->inject_size);
    std::vector<std::vector<char>> in(20, std::vector<char>(out.size()));
    std::vector<int> receiving(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
        out = pattern(out.size(), char(i)); // the first ones go before there is a connection
        REQUIRE(fi_inject(d.a.ep(), out.data(), out.size(), d.to_b) == 0);
        std::ranges::fill(out, 'X');
        if (i == 10) d.settle();
    }
    for (size_t i = 0; i < in.size(); ++i)
        REQUIRE(fi_recv(d.b.ep(), in[i].data(), in[i].size(), nullptr, FI_ADDR_UNSPEC,
                        &receiving[i]) == 0);
    for (size_t i = 0; i < in.size(); ++i) {
        d.outcome(d.b, &receiving[i]);
        CHECK(in[i] == pattern(out.size(), char(i)));
    }
    out.push_back(0);
    CHECK(fi_inject(d.a.ep(), out.data(), out.size(), d.to_b) == -FI_EMSGSIZE);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("a message longer than its receive is cut, and both sides learn what they should") {
    Duo d;
    for (const size_t size : {size_t{100}, size_t{100'000}}) {
        for (const bool early : {true, false}) {
            const auto out = pattern(size, 't');
            std::vector<char> in(size, 0);
            int sending = 0, receiving = 0;
            auto receive = [&] {
                REQUIRE(fi_trecv(d.b.ep(), in.data(), 60, nullptr, FI_ADDR_UNSPEC, 9, 0,
                                 &receiving) == 0);
            };
            if (early) receive();
            REQUIRE(fi_tsend(d.a.ep(), out.data(), size, nullptr, d.to_b, 9, &sending) == 0);
            if (!early) {
                d.settle(5);
                receive();
            }
            const Outcome cut = d.outcome(d.b, &receiving);
            REQUIRE(cut.error);
            CHECK(cut.error->err == FI_ETRUNC);
            CHECK(cut.error->len == 60);
            CHECK(cut.error->olen == size - 60);
            CHECK(cut.error->tag == 9);
            CHECK(std::memcmp(in.data(), out.data(), 60) == 0);
            CHECK(in[60] == 0);
            CHECK_FALSE(d.outcome(d.a, &sending).error);
        }
    }
}

TEST_CASE("delivery complete means that the message was received") {
    Duo d;
    for (const size_t size : {size_t{10}, size_t{100'000}}) {
        const auto out = pattern(size, 'c');
        std::vector<char> in(size);
        int sending = 0, receiving = 0;
        const iovec iov{const_cast<char*>(out.data()), size};
        const fi_msg m{.msg_iov = &iov,
                       .desc = nullptr,
                       .iov_count = 1,
                       .addr = d.to_b,
                       .context = &sending,
                       .data = 0};
        REQUIRE(fi_sendmsg(d.a.ep(), &m, FI_DELIVERY_COMPLETE | FI_COMPLETION) == 0);
        d.settle(50);
        CHECK_FALSE(d.a.take(&sending));
        REQUIRE(fi_recv(d.b.ep(), in.data(), size, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        CHECK_FALSE(d.outcome(d.a, &sending).error);
        CHECK(in == out);
        d.outcome(d.b, &receiving);
    }
}

TEST_CASE("more sends than the queue has places are put off, and none is lost") {
    Duo d;
    const size_t size = d.a.endpoint.info().tx_attr->size;
    std::vector<int> sending(size + 1);
    char byte = 'b';
    size_t posted = 0;
    // Nobody polls: the connection cannot be seen to be made, and all wait for it.
    while (posted < size && fi_tsend(d.a.ep(), &byte, 1, nullptr, d.to_b, 0, &sending[posted]) == 0)
        ++posted;
    CHECK(posted == size);
    CHECK(fi_tsend(d.a.ep(), &byte, 1, nullptr, d.to_b, 0, &sending[size]) == -FI_EAGAIN);
    for (size_t i = 0; i < size; ++i) CHECK_FALSE(d.outcome(d.a, &sending[i]).error);
    CHECK(fi_tsend(d.a.ep(), &byte, 1, nullptr, d.to_b, 0, &sending[size]) == 0);
    d.outcome(d.a, &sending[size]);
    for (size_t i = 0; i < size + 1; ++i) {
        int receiving = 0;
        REQUIRE(fi_trecv(d.b.ep(), &byte, 1, nullptr, d.to_a, 0, 0, &receiving) == 0);
        CHECK(d.outcome(d.b, &receiving).entry.len == 1);
    }
}

TEST_CASE("what was injected arrives, though the program does not come back") {
    Duo d;
    Watched c;
    const fi_addr_t to_c = d.a.endpoint.insert(c.endpoint.name());
    const char out = 'x';
    char in[2]{};
    REQUIRE(fi_recv(d.b.ep(), &in[0], 1, nullptr, FI_ADDR_UNSPEC, &in[0]) == 0);
    REQUIRE(fi_recv(c.ep(), &in[1], 1, nullptr, FI_ADDR_UNSPEC, &in[1]) == 0);
    REQUIRE(fi_inject(d.a.ep(), &out, 1, d.to_b) == 0);
    poll_until(d.b, [&] { return d.b.take(&in[0]).has_value(); });
    // Where there is one queue pair, it is to be had only when the first message is known to be
    // through.
    REQUIRE(fi_inject(d.a.ep(), &out, 1, to_c) == 0);
    poll_until(c, [&] { return c.take(&in[1]).has_value(); });
    CHECK(in[0] == out);
    CHECK(in[1] == out);
}
