// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Memory in as many pieces as the endpoint says it takes, on both sides of every transfer.

#include "duo.hpp"

using namespace duo;

namespace {

// The bytes cut into so many pieces, short and long ones and one that is empty.
template <class Piece, class Make>
std::vector<Piece> cut(size_t size, size_t count, size_t skew, Make&& make) {
    std::vector<Piece> pieces;
    size_t done = 0;
    for (size_t i = 1; i < count; ++i) {
        const size_t n = std::min(size - done, i == 3 ? 0 : size / count + (i * skew) % 7);
        pieces.push_back(make(done, n));
        done += n;
    }
    pieces.push_back(make(done, size - done));
    return pieces;
}

std::vector<iovec> cut(std::vector<char>& bytes, size_t count, size_t skew) {
    return cut<iovec>(bytes.size(), count, skew, [&](size_t at, size_t n) {
        return iovec{bytes.data() + at, n};
    });
}

} // namespace

TEST_CASE("the limits of pieces are the device's, and the same everywhere") {
    const Duo d{kRmaWishes};
    const fi_info& info = d.a.endpoint.info();
    CHECK(info.tx_attr->iov_limit == info.rx_attr->iov_limit);
    CHECK(info.tx_attr->iov_limit == info.tx_attr->rma_iov_limit);
    for (const char* domain : {"soft0", "rxe0"})
        if (choice().domain == domain) CHECK(info.tx_attr->iov_limit == 32);
}

TEST_CASE("messages of any number of pieces into any number") {
    Duo d;
    const size_t limit = d.a.endpoint.info().tx_attr->iov_limit;
    for (const size_t size : {size_t{40}, size_t{600}, size_t{6000}, size_t{60'000}}) {
        for (size_t n = 1; n <= limit; ++n) {
            CAPTURE(size);
            CAPTURE(n);
            auto out = pattern(size, static_cast<char>(n));
            std::vector<char> in(size);
            const auto from = cut(out, n, 3), to = cut(in, limit + 1 - n, 5);
            int sending = 0, receiving = 0;
            REQUIRE(fi_trecvv(d.b.ep(), to.data(), nullptr, to.size(), d.to_a, n, 0, &receiving) ==
                    0);
            REQUIRE(fi_tsendv(d.a.ep(), from.data(), nullptr, from.size(), d.to_b, n, &sending) ==
                    0);
            CHECK(d.outcome(d.b, &receiving).entry.len == size);
            CHECK_FALSE(d.outcome(d.a, &sending).error);
            CHECK(in == out);
        }
    }
    const std::vector<iovec> many(limit + 1);
    CHECK(fi_trecvv(d.b.ep(), many.data(), nullptr, many.size(), d.to_a, 5, 0, nullptr) ==
          -FI_EINVAL);
    CHECK(fi_tsendv(d.a.ep(), many.data(), nullptr, many.size(), d.to_b, 5, nullptr) == -FI_EINVAL);
    CHECK(fi_recvv(d.b.ep(), many.data(), nullptr, many.size(), d.to_a, nullptr) == -FI_EINVAL);
    CHECK(fi_sendv(d.a.ep(), many.data(), nullptr, many.size(), d.to_b, nullptr) == -FI_EINVAL);
}

TEST_CASE("writes and reads between any number of pieces") {
    Duo d{kRmaWishes};
    const size_t limit = d.a.endpoint.info().tx_attr->rma_iov_limit;
    for (const size_t size : {size_t{40}, size_t{600}, size_t{6000}, size_t{60'000}}) {
        Shared there{d.b, size};
        for (size_t n = 1; n <= limit; ++n) {
            CAPTURE(size);
            CAPTURE(n);
            auto out = pattern(size, static_cast<char>(n));
            std::vector<char> in(size);
            const auto from = cut(out, n, 3), to = cut(in, n, 5);
            const auto remote =
                cut<fi_rma_iov>(size, limit + 1 - n, 2, [&](size_t at, size_t bytes) {
                    return fi_rma_iov{there.at(at), bytes, there.key()};
                });
            int writing = 0, reading = 0;
            fi_msg_rma m = rma_message(d.to_b, from, remote, &writing, n);
            REQUIRE(fi_writemsg(d.a.ep(), &m, FI_COMPLETION | FI_REMOTE_CQ_DATA) == 0);
            CHECK_FALSE(d.outcome(d.a, &writing).error);
            const Outcome told = d.outcome(d.b, nullptr);
            CHECK(told.entry.data == n);
            CHECK(told.entry.len == size);
            CHECK(there.bytes == out);
            m.msg_iov = to.data();
            m.context = &reading;
            REQUIRE(fi_readmsg(d.a.ep(), &m, FI_COMPLETION) == 0);
            CHECK_FALSE(d.outcome(d.a, &reading).error);
            CHECK(in == out);
        }
    }
}
