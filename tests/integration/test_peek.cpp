// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Receives that are taken back, and messages that are looked at before they are received
// (fi_cancel of fi_endpoint(3); FI_PEEK of fi_tagged(3)).

#include "statistics.hpp"

using namespace duo;

TEST_CASE("a posted receive can be cancelled, once") {
    Duo d;
    char in = 0;
    int first = 0, second = 0;
    REQUIRE(fi_trecv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, &first) == 0);
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &second) == 0);
    CHECK(fi_cancel(&d.b.ep()->fid, &first) == 0);
    CHECK(fi_cancel(&d.b.ep()->fid, &first) == -FI_ENOENT);
    const Outcome o = d.outcome(d.b, &first);
    REQUIRE(o.error);
    CHECK(o.error->err == FI_ECANCELED);
    REQUIRE(fi_inject(d.a.ep(), "x", 1, d.to_b) == 0);
    CHECK(d.outcome(d.b, &second).entry.len == 1);
}

TEST_CASE("peek tells what has come; claim keeps it, discard throws it away") {
    Duo d;
    const auto peek = [&](uint64_t tag, uint64_t flags, void* context) {
        const fi_msg_tagged m{.msg_iov = nullptr,
                              .desc = nullptr,
                              .iov_count = 0,
                              .addr = d.to_a,
                              .tag = tag,
                              .ignore = 0,
                              .context = context,
                              .data = 0};
        REQUIRE(fi_trecvmsg(d.b.ep(), &m, FI_PEEK | FI_COMPLETION | flags) == 0);
        return d.outcome(d.b, context);
    };
    fi_context2 context;
    const Outcome none = peek(1, 0, &context);
    REQUIRE(none.error);
    CHECK(none.error->err == FI_ENOMSG);

    for (const size_t size : {size_t{50}, size_t{50'000}}) {
        const auto out = pattern(size, 'p');
        int sending = 0;
        const uint64_t before = statistics_of(d.b).unexpected;
        REQUIRE(fi_tsenddata(d.a.ep(), out.data(), size, nullptr, 33, d.to_b, 1, &sending) == 0);
        d.until([&] { return statistics_of(d.b).unexpected > before; });
        const Outcome seen = peek(1, 0, &context);
        CHECK_FALSE(seen.error);
        CHECK(seen.entry.len == size);
        CHECK(seen.entry.data == 33);
        CHECK(seen.entry.tag == 1);
        CHECK(seen.source == d.to_a);

        CHECK_FALSE(peek(1, FI_CLAIM, &context).error);
        fi_context2 other;
        CHECK(peek(1, 0, &other).error); // it is taken
        std::vector<char> in(size);
        const iovec iov{in.data(), in.size()};
        fi_msg_tagged m{.msg_iov = &iov,
                        .desc = nullptr,
                        .iov_count = 1,
                        .addr = d.to_a,
                        .tag = 1,
                        .ignore = 0,
                        .context = &other,
                        .data = 0};
        CHECK(fi_trecvmsg(d.b.ep(), &m, FI_CLAIM | FI_COMPLETION) == -FI_EINVAL);
        m.context = &context;
        REQUIRE(fi_trecvmsg(d.b.ep(), &m, FI_CLAIM | FI_COMPLETION) == 0);
        CHECK(d.outcome(d.b, &context).entry.len == size);
        CHECK(in == out);
        CHECK_FALSE(d.outcome(d.a, &sending).error);

        REQUIRE(fi_tsend(d.a.ep(), out.data(), size, nullptr, d.to_b, 1, &sending) == 0);
        d.settle();
        CHECK_FALSE(peek(1, FI_DISCARD, &context).error);
        CHECK(peek(1, 0, &context).error);
        CHECK_FALSE(d.outcome(d.a, &sending).error); // its sender is not left waiting
    }
}
