// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What fi_odrc.h gives a program to read.

#include "atomics.hpp"
#include "statistics.hpp"

using namespace duo;

TEST_CASE("a program reads what its endpoints have counted") {
    Duo d{kAtomicWishes};
    CHECK(statistics_of(d.a).peers == 0);
    CHECK(statistics_of(d.a).connections == 0);
    int sending = 0, receiving = 0, writing = 0, adding = 0;
    const auto out = pattern(100, 'a');
    char in[100];
    REQUIRE(fi_send(d.a.ep(), out.data(), 100, nullptr, d.to_b, &sending) == 0);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    d.settle();
    REQUIRE(fi_recv(d.b.ep(), in, 100, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    const Numbers<uint64_t> there{d.b, {1, 2}};
    uint64_t number = 3;
    REQUIRE(fi_write(d.a.ep(), &number, 8, nullptr, d.to_b, there.at(0), there.key(), &writing) ==
            0);
    CHECK_FALSE(d.outcome(d.a, &writing).error);
    REQUIRE(fi_atomic(d.a.ep(), &number, 1, nullptr, d.to_b, there.at(1), there.key(), FI_UINT64,
                      FI_SUM, &adding) == 0);
    CHECK_FALSE(d.outcome(d.a, &adding).error);

    const fi_odrc_statistics a = statistics_of(d.a), b = statistics_of(d.b);
    CHECK(a.peers == 1);
    CHECK(a.connections_made == 1);
    CHECK(a.connections == 1);
    CHECK(a.connections_peak == 1);
    CHECK(a.connections_answered == 0);
    CHECK(b.connections_answered == 1);
    CHECK(a.connections_crossed + b.connections_crossed == 0);
    CHECK(a.connections_waiting + a.connections_wiring + a.connections_leaving == 0);
    CHECK(a.request_ns > 0);
    CHECK(b.accept_ns > 0);
    CHECK(a.wireup_datagrams >= 1);
    CHECK(a.wireup_bytes > a.wireup_datagrams);
    CHECK(a.wireup_refused == 0);
    CHECK(a.messages_sent == 1);
    CHECK(a.bytes_sent == 100);
    CHECK(a.sent_eager.classes[1].messages == 1); // of up to 256 bytes
    CHECK(a.sent_eager.classes[1].bytes == 100);
    CHECK(a.registered_bytes > 0);
    CHECK(a.registered_bytes_peak >= a.registered_bytes);
    CHECK(a.memory_bytes >= a.registered_bytes);
    CHECK(a.rma_operations == 1);
    CHECK(a.rma_bytes == 8);
    CHECK(a.atomics == 1);
    CHECK(a.posts >= 3); // the message, the write, the atomic
    CHECK(a.memory_bytes > 0);
    CHECK(a.memory_bytes_peak >= a.memory_bytes);
    CHECK(b.messages_received == 1);
    CHECK(b.bytes_received == 100);
    CHECK(b.unexpected == 1);
}

// What devices take inline is 256, 512 or 2048 bytes with a header of 16, and a message of up to
// 256 bytes is put together for that in another way.
TEST_CASE(
    "on both sides of where its way changes a message comes whole, and is counted in its way") {
    Duo d;
    for (const size_t border : {240, 256, 496, 512, 1024, 2032, 2048, 8192}) {
        for (const size_t size : {border - 1, border, border + 1}) {
            CAPTURE(size);
            const auto out = pattern(size, 'c');
            std::vector<char> in(size);
            int sending = 0, receiving = 0;
            REQUIRE(fi_recv(d.b.ep(), in.data(), size, nullptr, d.to_a, &receiving) == 0);
            REQUIRE(fi_send(d.a.ep(), out.data(), size, nullptr, d.to_b, &sending) == 0);
            CHECK(d.outcome(d.b, &receiving).entry.len == size);
            CHECK_FALSE(d.outcome(d.a, &sending).error);
            CHECK(in == out);
        }
    }
    const fi_odrc_statistics sent = statistics_of(d.a);
    CHECK(sent.sent_eager.classes[4].messages == 2); // of 8191 and 8192 bytes
    CHECK(sent.sent_eager.classes[5].messages == 0);
    CHECK(sent.sent_announced.classes[4].messages == 0);
    const bool sliced = sent.sliced_bytes_most > 0;
    CHECK(sent.sent_sliced.classes[5].messages == (sliced ? 1 : 0)); // of 8193 bytes
    CHECK(sent.sent_announced.classes[5].messages == (sliced ? 0 : 1));
}

TEST_CASE("packets are counted where processes keep connections, and nowhere else") {
    const char* kept = std::getenv("FI_ODRC_RELIABILITY");
    const std::string_view by = kept ? kept : "nic";
    Duo d;
    int sending = 0, receiving = 0;
    char in[100];
    const auto out = pattern(100, 'p');
    REQUIRE(fi_recv(d.b.ep(), in, 100, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), out.data(), 100, nullptr, d.to_b, &sending) == 0);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    d.settle(); // b has nothing to say but that it has come
    const fi_odrc_statistics a = statistics_of(d.a), b = statistics_of(d.b);
    const bool counted = by == "host" || by == "ladder";
    for (const fi_odrc_statistics* s : {&a, &b}) {
        CHECK((s->packets_sent > 0) == counted);
        CHECK((s->packets_received > 0) == counted);
        CHECK(s->packets_repeated + s->acknowledgements <= s->packets_sent);
        CHECK(s->packets_doubled + s->packets_early + s->packets_stray + s->packets_malformed <=
              s->packets_received);
        CHECK(s->packets_malformed == 0);
    }
    CHECK((b.acknowledgements > 0) == counted);
    CHECK(a.packets_received <= b.packets_sent);
    CHECK(b.packets_received <= a.packets_sent);
}

TEST_CASE("a program that knows fewer numbers gets those it knows") {
    const Watched w;
    auto* ops = statistics_ops(w);
    CHECK(ops->size >= sizeof(fi_odrc_statistics_ops));
    fi_odrc_statistics statistics;
    std::memset(&statistics, 0xff, sizeof statistics);
    CHECK(ops->read(w.ep(), &statistics, 8) == 8);
    CHECK(statistics.peers == 0);
    CHECK(statistics.connections_made == ~0ull);
}

TEST_CASE("operations that there are not cannot be opened") {
    const Watched w;
    void* ops = nullptr;
    CHECK(fi_open_ops(&w.ep()->fid, "something else", 0, &ops, nullptr) == -FI_ENOSYS);
    CHECK(fi_open_ops(&w.ep()->fid, FI_ODRC_STATISTICS_OPS, 1, &ops, nullptr) == -FI_EBADFLAGS);
    CHECK(fi_open_ops(&w.endpoint.domain()->fid, FI_ODRC_STATISTICS_OPS, 0, &ops, nullptr) ==
          -FI_ENOSYS);
    fid_ep* ep = nullptr;
    auto* info = const_cast<fi_info*>(&w.endpoint.info());
    REQUIRE(fi_endpoint(w.endpoint.domain(), info, &ep, nullptr) == 0);
    const Owned<fid_ep> owned{ep};
    REQUIRE(fi_open_ops(&ep->fid, FI_ODRC_STATISTICS_OPS, 0, &ops, nullptr) == 0);
    fi_odrc_statistics statistics;
    CHECK(static_cast<fi_odrc_statistics_ops*>(ops)->read(ep, &statistics, sizeof statistics) ==
          -FI_EOPBADSTATE);
}

TEST_CASE("an option that an endpoint does not have is refused") {
    const Watched w;
    for (int name = FI_OPT_MIN_MULTI_RECV; name < 40; ++name) {
        if (name == FI_OPT_MIN_MULTI_RECV) continue;
        CAPTURE(name);
        size_t value = 0, length = sizeof value;
        CHECK(fi_getopt(&w.ep()->fid, FI_OPT_ENDPOINT, name, &value, &length) == -FI_ENOPROTOOPT);
        CHECK(fi_setopt(&w.ep()->fid, FI_OPT_ENDPOINT, name, &value, length) == -FI_ENOPROTOOPT);
    }
    size_t value = 0, length = sizeof value;
    CHECK(fi_getopt(&w.ep()->fid, 77, FI_OPT_MIN_MULTI_RECV, &value, &length) == -FI_ENOPROTOOPT);
}
