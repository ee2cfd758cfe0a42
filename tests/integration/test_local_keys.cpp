// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Descriptors of the program's own memory (FI_MR_LOCAL, fi_mr(3)), with messages, reads and writes.

#include "duo.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace duo;

namespace {

Wishes with_local_keys() {
    Wishes wishes = kRmaWishes;
    wishes.mr_mode |= FI_MR_LOCAL;
    return wishes;
}

} // namespace

TEST_CASE("a program that offers the keys of its own memory has them used") {
    Duo d{with_local_keys()};
    Shared here{d.a, 100'000, FI_READ | FI_WRITE};
    Shared there{d.b, 100'000};
    void* desc = fi_mr_desc(here.region.get());
    for (const size_t size : {100, 5000, 100'000}) {
        std::ranges::copy(pattern(100'000, static_cast<char>(size)), here.bytes.begin());
        int writing = 0, reading = 0;
        REQUIRE(fi_write(d.a.ep(), here.bytes.data(), size, desc, d.to_b, there.at(0), there.key(),
                         &writing) == 0);
        CHECK_FALSE(d.outcome(d.a, &writing).error);
        CHECK(
            std::equal(there.bytes.begin(), there.bytes.begin() + long(size), here.bytes.begin()));
        std::ranges::fill(there.bytes, 'r');
        REQUIRE(fi_read(d.a.ep(), here.bytes.data(), size, desc, d.to_b, there.at(0), there.key(),
                        &reading) == 0);
        CHECK_FALSE(d.outcome(d.a, &reading).error);
        CHECK(std::count(here.bytes.begin(), here.bytes.end(), 'r') >= long(size));
    }
}

TEST_CASE("a descriptor of other memory, or of none any more, fails what names it alone") {
    constexpr size_t kSize = 10'000; // more than goes inline
    Duo d{with_local_keys()};
    if (!(d.a.endpoint.info().domain_attr->mr_mode & FI_MR_LOCAL)) return; // it needs no keys
    Shared there{d.b, kSize};
    Shared here{d.a, kSize, FI_READ | FI_WRITE};
    const Shared other{d.a, kSize, FI_READ | FI_WRITE};
    Shared gone{d.a, kSize, FI_READ | FI_WRITE};
    void* const none = fi_mr_desc(gone.region.get());
    gone.region.reset();
    uint64_t number = 0;
    for (void* desc : {fi_mr_desc(other.region.get()), none}) {
        for (const bool writes : {true, false}) {
            CAPTURE(writes);
            CAPTURE(desc == none);
            int bad = 0, good = 0, sending = 0, receiving = 0;
            const auto move = [&](void* key, int* context) {
                return writes ? fi_write(d.a.ep(), here.bytes.data(), kSize, key, d.to_b,
                                         there.at(0), there.key(), context)
                              : fi_read(d.a.ep(), here.bytes.data(), kSize, key, d.to_b,
                                        there.at(0), there.key(), context);
            };
            REQUIRE(move(desc, &bad) == 0);
            REQUIRE(move(fi_mr_desc(here.region.get()), &good) == 0);
            uint64_t heard = 0;
            REQUIRE(fi_send(d.a.ep(), &++number, 8, nullptr, d.to_b, &sending) == 0);
            REQUIRE(fi_recv(d.b.ep(), &heard, 8, nullptr, d.to_a, &receiving) == 0);
            const Outcome o = d.outcome(d.a, &bad);
            REQUIRE(o.error);
            CHECK(o.error->err == FI_EFAULT);
            CHECK_FALSE(d.outcome(d.a, &good).error);
            CHECK_FALSE(d.outcome(d.a, &sending).error);
            CHECK_FALSE(d.outcome(d.b, &receiving).error);
            CHECK(heard == number);
            CHECK(here.bytes == there.bytes);
        }
    }
}

TEST_CASE("messages of any length go from memory that the program has registered, in any pieces") {
    constexpr size_t kMost = 20'000;
    Duo d{with_local_keys()};
    Shared here{d.a, kMost, FI_SEND};
    Shared more{d.a, kMost, FI_SEND};
    std::vector<char> there(2 * kMost);
    void* keys[] = {fi_mr_desc(here.region.get()), fi_mr_desc(more.region.get())};
    for (const size_t size : {8, 300, 2049, 4000, 8191, 20'000}) {
        for (const bool some : {true, false}) { // the second one has a key as well
            CAPTURE(size);
            CAPTURE(some);
            std::ranges::copy(pattern(kMost, static_cast<char>(size)), here.bytes.begin());
            const iovec pieces[] = {{here.bytes.data(), size}, {more.bytes.data(), size / 2}};
            void* given[] = {keys[0], some ? nullptr : keys[1]};
            int sending = 0, receiving = 0;
            REQUIRE(fi_recv(d.b.ep(), there.data(), there.size(), nullptr, d.to_a, &receiving) ==
                    0);
            REQUIRE(fi_sendv(d.a.ep(), pieces, given, 2, d.to_b, &sending) == 0);
            CHECK_FALSE(d.outcome(d.a, &sending).error);
            const Outcome o = d.outcome(d.b, &receiving);
            REQUIRE_FALSE(o.error);
            CHECK(o.entry.len == size + size / 2);
            CHECK(std::equal(here.bytes.begin(), here.bytes.begin() + long(size), there.begin()));
            CHECK(std::equal(more.bytes.begin(), more.bytes.begin() + long(size / 2),
                             there.begin() + long(size)));
        }
    }
}

// Where peers begin by datagrams it is copied at first, and nobody looks at the descriptor.
TEST_CASE("a message with a descriptor of other memory fails alone") {
    const char* kept = std::getenv("FI_ODRC_RELIABILITY");
    const bool is_connected = !kept || kept != std::string_view{"ladder"};
    constexpr size_t kSize = 5000; // more than goes inline, and not announced
    Duo d{with_local_keys()};
    if (!(d.a.endpoint.info().domain_attr->mr_mode & FI_MR_LOCAL)) return; // it needs no keys
    Shared here{d.a, kSize, FI_SEND};
    const Shared other{d.a, kSize, FI_SEND};
    std::vector<char> there(kSize);
    int before = 0, bad = 0, good = 0, receiving = 0;
    uint64_t word = 7, heard = 0;
    // With the first word there is a connection, which the bad one then breaks.
    REQUIRE(fi_recv(d.b.ep(), &heard, 8, nullptr, d.to_a, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), &word, 8, nullptr, d.to_b, &before) == 0);
    CHECK_FALSE(d.outcome(d.a, &before).error);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(heard == word);
    const auto send = [&](const Shared& whose, int* context) {
        return fi_send(d.a.ep(), here.bytes.data(), kSize, fi_mr_desc(whose.region.get()), d.to_b,
                       context);
    };
    REQUIRE(fi_recv(d.b.ep(), there.data(), kSize, nullptr, d.to_a, &receiving) == 0);
    REQUIRE(send(other, &bad) == 0);
    REQUIRE(send(here, &good) == 0);
    const Outcome o = d.outcome(d.a, &bad);
    CHECK((o.error || !is_connected) == true);
    if (o.error) CHECK(o.error->err == FI_EFAULT);
    CHECK_FALSE(d.outcome(d.a, &good).error);
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK(std::ranges::equal(there, here.bytes));
}
