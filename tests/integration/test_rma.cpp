// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_rma(3)

#include "duo.hpp"

using namespace duo;

namespace {

constexpr uint64_t kRead = FI_RMA | FI_READ;
constexpr uint64_t kWrite = FI_RMA | FI_WRITE;

} // namespace

TEST_CASE("memory of all sizes is written and read, the first time without a connection") {
    for (const bool writes_first : {true, false}) {
        Duo d{kRmaWishes};
        for (const size_t size :
             {0, 1, 8, 100, 1000, 1024, 4096, 8191, 8192, 8193, 65536, 1 << 20, 20'000'000}) {
            CAPTURE(size);
            Shared there{d.b, size + 2};
            std::vector<char> here = pattern(size, 'w');
            int writing = 0, reading = 0;
            if (!writes_first) {
                REQUIRE(fi_read(d.a.ep(), here.data(), size, nullptr, d.to_b, there.at(1),
                                there.key(), &reading) == 0);
                CHECK(d.outcome(d.a, &reading).entry.flags == kRead);
                CHECK(here == std::vector<char>(size));
                here = pattern(size, 'w');
            }
            REQUIRE(fi_write(d.a.ep(), here.data(), size, nullptr, d.to_b, there.at(1), there.key(),
                             &writing) == 0);
            const Outcome written = d.outcome(d.a, &writing);
            CHECK_FALSE(written.error);
            CHECK(written.entry.flags == kWrite);
            std::vector<char> back(size);
            REQUIRE(fi_read(d.a.ep(), back.data(), size, nullptr, d.to_b, there.at(1), there.key(),
                            &reading) == 0);
            const Outcome read = d.outcome(d.a, &reading);
            CHECK_FALSE(read.error);
            CHECK(read.entry.flags == kRead);
            CHECK(back == here);
            CHECK(std::equal(here.begin(), here.end(), there.bytes.begin() + 1));
            CHECK(there.bytes.front() == 0); // and nothing beside it
            CHECK(there.bytes.back() == 0);
        }
        CHECK(d.b.outcomes.empty());
    }
}

TEST_CASE("pieces on both sides need not match, and are one operation") {
    Duo d{kRmaWishes};
    for (const size_t size : {600, 6000, 60'000, 1'000'000}) {
        CAPTURE(size);
        Shared there{d.b, 2 * size};
        std::vector<char> out = pattern(size, 'p'), in(size);
        iovec here[8];
        for (size_t i = 0; i < 8; ++i) {
            const size_t begin = i * size / 8, end = (i + 1) * size / 8;
            here[i] = {out.data() + begin, end - begin};
        }
        const size_t cut = size / 3;
        const fi_rma_iov remote[3] = {{there.at(size), cut, there.key()},
                                      {there.at(0), 0, there.key()},
                                      {there.at(0), size - cut, there.key()}};
        int writing = 0, reading = 0;
        fi_msg_rma m = rma_message(d.to_b, {here, 8}, {remote, 3}, &writing);
        REQUIRE(fi_writemsg(d.a.ep(), &m, FI_COMPLETION) == 0);
        CHECK_FALSE(d.outcome(d.a, &writing).error);
        CHECK(std::memcmp(&there.bytes[size], out.data(), cut) == 0);
        CHECK(std::memcmp(&there.bytes[0], out.data() + cut, size - cut) == 0);
        const iovec back[2] = {{in.data(), 1}, {in.data() + 1, size - 1}};
        m.msg_iov = back;
        m.iov_count = 2;
        m.context = &reading;
        REQUIRE(fi_readmsg(d.a.ep(), &m, FI_COMPLETION) == 0);
        CHECK_FALSE(d.outcome(d.a, &reading).error);
        CHECK(in == out);

        REQUIRE(fi_writev(d.a.ep(), here, nullptr, 8, d.to_b, there.at(5), there.key(), &writing) ==
                0);
        std::ranges::fill(in, 0);
        REQUIRE(fi_readv(d.a.ep(), back, nullptr, 2, d.to_b, there.at(5), there.key(), &reading) ==
                0);
        CHECK_FALSE(d.outcome(d.a, &writing).error);
        CHECK_FALSE(d.outcome(d.a, &reading).error);
        CHECK(in == out);
    }
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("an endpoint reads and writes memory of its own process") {
    Duo d{kRmaWishes};
    const fi_addr_t self = d.a.endpoint.insert(d.a.endpoint.name());
    Shared there{d.a, 100'000};
    auto here = pattern(100'000, 's');
    int writing = 0;
    REQUIRE(fi_writedata(d.a.ep(), here.data(), here.size(), nullptr, 5, self, there.at(0),
                         there.key(), &writing) == 0);
    CHECK_FALSE(d.outcome(d.a, &writing).error);
    CHECK(d.outcome(d.a, nullptr).entry.data == 5);
    CHECK(there.bytes == here);
}

TEST_CASE("remote CQ data of a write, all 64 bits of it, comes when the bytes are there") {
    Duo d{kRmaWishes};
    constexpr uint64_t kData = 0xfedcba9876543210;
    for (const size_t size : {size_t{0}, size_t{8}, size_t{5000}, size_t{100'000}}) {
        CAPTURE(size);
        Shared there{d.b, size + 1};
        auto here = pattern(size, 'd');
        int writing = 0;
        REQUIRE(fi_writedata(d.a.ep(), here.data(), size, nullptr, kData, d.to_b, there.at(0),
                             there.key(), &writing) == 0);
        const Outcome told = d.outcome(d.b, nullptr);
        CHECK(told.entry.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
        CHECK(told.entry.data == kData);
        CHECK(told.entry.len == size);
        CHECK(told.source == d.to_a);
        CHECK(std::equal(here.begin(), here.end(), there.bytes.begin()));
        CHECK(d.outcome(d.a, &writing).entry.flags == kWrite);
    }
    Shared there{d.b, 8};
    REQUIRE(fi_inject_writedata(d.a.ep(), "injected", 8, 9, d.to_b, there.at(0), there.key()) == 0);
    CHECK(d.outcome(d.b, nullptr).entry.data == 9);
    CHECK(std::string(there.bytes.data(), 8) == "injected");
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("injected bytes are free when the call is back, connected or not") {
    Duo d{kRmaWishes};
    const size_t size = d.a.endpoint.info().tx_attr->inject_size;
    constexpr size_t kWrites = 20;
    Shared there{d.b, kWrites * size};
    std::vector<char> here;
    for (size_t i = 0; i < kWrites; ++i) {
        here = pattern(size, static_cast<char>(i)); // the first ones go without a connection
        REQUIRE(fi_inject_write(d.a.ep(), here.data(), size, d.to_b, there.at(i * size),
                                there.key()) == 0);
        std::ranges::fill(here, 'X');
        if (i == 10) d.settle();
    }
    int reading = 0; // behind all of them
    REQUIRE(fi_read(d.a.ep(), here.data(), size, nullptr, d.to_b, there.at(0), there.key(),
                    &reading) == 0);
    CHECK_FALSE(d.outcome(d.a, &reading).error);
    for (size_t i = 0; i < kWrites; ++i) {
        const auto expected = pattern(size, static_cast<char>(i));
        CHECK(std::memcmp(&there.bytes[i * size], expected.data(), size) == 0);
    }
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("who asked for few completions gets those he asks for, and all remote CQ data") {
    Wishes wishes = kRmaWishes;
    wishes.selective = true;
    Duo d{wishes};
    Shared there{d.b, 8};
    char here[8] = "quietly";
    int quiet = 0, loud = 0;
    REQUIRE(fi_write(d.a.ep(), here, 8, nullptr, d.to_b, there.at(0), there.key(), &quiet) == 0);
    REQUIRE(fi_writedata(d.a.ep(), here, 8, nullptr, 3, d.to_b, there.at(0), there.key(), &quiet) ==
            0);
    RmaMessage read{here, 8, d.to_b, there.at(0), there.key(), &loud};
    REQUIRE(fi_readmsg(d.a.ep(), &read.m, FI_COMPLETION) == 0);
    CHECK_FALSE(d.outcome(d.a, &loud).error);
    CHECK(d.outcome(d.b, nullptr).entry.data == 3);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("every level of completion of a write is kept, but that of persistent memory") {
    Duo d{kRmaWishes};
    for (const size_t size : {size_t{8}, size_t{50'000}}) {
        for (const uint64_t level :
             {FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE}) {
            Shared there{d.b, size};
            auto here = pattern(size, 'l');
            int context = 0;
            RmaMessage write{here.data(), size, d.to_b, there.at(0), there.key(), &context};
            REQUIRE(fi_writemsg(d.a.ep(), &write.m, level | FI_COMPLETION) == 0);
            CHECK_FALSE(d.outcome(d.a, &context).error);
            if (level == FI_DELIVERY_COMPLETE) CHECK(there.bytes == here);
            REQUIRE(fi_readmsg(d.a.ep(), &write.m, level | FI_COMPLETION) == 0);
            CHECK_FALSE(d.outcome(d.a, &context).error);
            CHECK(fi_writemsg(d.a.ep(), &write.m, FI_COMMIT_COMPLETE) == -FI_EBADFLAGS);
        }
    }
    CHECK(d.b.outcomes.empty());
}

TEST_CASE("more operations than the queue has places are put off, and none is lost") {
    Duo d{kRmaWishes};
    const size_t size = d.a.endpoint.info().tx_attr->size;
    Shared there{d.b, size + 1};
    std::vector<int> writing(size);
    std::vector<char> here = pattern(size + 1, 'm');
    for (size_t i = 0; i < size; ++i) // nobody polls, so that there is no connection
        REQUIRE(fi_write(d.a.ep(), &here[i], 1, nullptr, d.to_b, there.at(i), there.key(),
                         &writing[i]) == 0);
    const auto one_more = [&] {
        return fi_inject_write(d.a.ep(), &here[size], 1, d.to_b, there.at(size), there.key());
    };
    CHECK(one_more() == -FI_EAGAIN);
    for (int& context : writing) CHECK_FALSE(d.outcome(d.a, &context).error);
    REQUIRE(one_more() == 0);
    int reading = 0;
    REQUIRE(fi_read(d.a.ep(), &here[0], 1, nullptr, d.to_b, there.at(size), there.key(),
                    &reading) == 0);
    CHECK_FALSE(d.outcome(d.a, &reading).error);
    CHECK(here[0] == here[size]);
    CHECK(std::equal(here.begin() + 1, here.end(), there.bytes.begin() + 1));
}
