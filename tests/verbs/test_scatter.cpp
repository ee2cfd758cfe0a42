// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Lists of segments: how a message is gathered, and where its bytes end up.

#include "operations.hpp"

#include <cstring>

using namespace rig;

namespace {

struct Span {
    size_t offset, size;
};

std::vector<ibv_sge> segments(const Region& region, const std::vector<Span>& spans) {
    std::vector<ibv_sge> list;
    for (const Span& s : spans) list.push_back(region.segment(s.offset, s.size));
    return list;
}

// The bytes at these spans, one after the other.
std::vector<char> gathered(const Region& region, const std::vector<Span>& spans) {
    std::vector<char> bytes;
    for (const Span& s : spans) {
        const char* begin = region.bytes.data() + s.offset;
        bytes.insert(bytes.end(), begin, begin + s.size);
    }
    return bytes;
}

size_t total(const std::vector<Span>& spans) {
    size_t size = 0;
    for (const Span& s : spans) size += s.size;
    return size;
}

const Pair::Needs kManySegments{.qp = {.cap = {.max_send_wr = 8,
                                               .max_recv_wr = 8,
                                               .max_send_sge = 8,
                                               .max_recv_sge = 8,
                                               .max_inline_data = 0}}};

// Sends from the one list into the other: as many bytes as there are arrive, in order, and
// nothing else is touched.
void check_send(const std::vector<Span>& from, const std::vector<Span>& into) {
    Pair p{kManySegments};
    p.ma.fill(1);
    const size_t size = total(from);
    REQUIRE(post_receive(p.qb.get(), {.id = kReceiveId, .segments = segments(p.mb, into)}) == 0);
    REQUIRE(post(p.qa.get(), {.id = kSendId, .segments = segments(p.ma, from)}) == 0);
    check_received<Send>(p.b.received(), p.qb, size);
    check_sent<Send>(p.a.sent(), p.qa, size);

    std::vector<char> wanted(p.mb.bytes.size());
    const std::vector<char> message = gathered(p.ma, from);
    size_t at = 0;
    for (const Span& s : into) {
        const size_t part = std::min(s.size, size - at);
        if (part) std::memcpy(wanted.data() + s.offset, message.data() + at, part);
        at += part;
    }
    CHECK(wanted == p.mb.bytes);
}

} // namespace

TEST_CASE("a message is gathered and scattered at bounds that have nothing in common") {
    check_send({{0, 1}, {3, 1021}, {2000, 7}, {1500, 5}}, {{4, 3}, {100, 2}, {999, 3000}});
}

TEST_CASE("segments of many packets each") {
    check_send({{1, 5000}, {7001, 3001}, {20000, 10001}},
               {{11, 7777}, {10001, 9999}, {30000, 226}});
}

TEST_CASE("a message shorter than its receive leaves the rest of it alone") {
    check_send({{10, 50}}, {{0, 20}, {100, 20}, {200, 20}, {300, 20}});
}

TEST_CASE("a message that ends with a segment") {
    check_send({{0, 40}}, {{0, 20}, {100, 20}, {200, 20}});
}

TEST_CASE("segments of no bytes hold nothing") {
    check_send({{0, 0}, {1, 10}, {0, 0}, {0, 0}, {50, 10}, {9, 0}},
               {{0, 0}, {7, 5}, {0, 0}, {100, 30}, {0, 0}});
}

TEST_CASE("segments may come in any order") {
    check_send({{4000, 100}, {2000, 100}, {0, 100}}, {{900, 150}, {500, 100}, {100, 50}});
}

TEST_CASE("the segments of a send may overlap") {
    check_send({{0, 100}, {50, 100}, {0, 100}}, {{0, 300}});
}

TEST_CASE("a send from several regions into several regions") {
    Pair p;
    Region other_a{p.a.pd, 64}, other_b{p.b.pd, 64};
    p.ma.fill(1);
    other_a.fill(2);
    REQUIRE(post_receive(p.qb.get(), {.segments = {other_b.segment(5, 12), p.mb.segment(3, 60)}}) ==
            0);
    REQUIRE(post(p.qa.get(), {.segments = {p.ma.segment(0, 20), other_a.segment(1, 20)}}) == 0);
    CHECK(p.b.received().byte_len == 40);
    CHECK(std::memcmp(other_b.bytes.data() + 5, p.ma.bytes.data(), 12) == 0);
    CHECK(std::memcmp(p.mb.bytes.data() + 3, p.ma.bytes.data() + 12, 8) == 0);
    CHECK(std::memcmp(p.mb.bytes.data() + 11, other_a.bytes.data() + 1, 20) == 0);
}

TEST_CASE("a write gathers what it lays down in one piece") {
    Pair p{kManySegments};
    p.ma.fill(1);
    const std::vector<Span> from{{3, 1}, {100, 2999}, {50, 17}, {9000, 4001}};
    REQUIRE(post(p.qa.get(), work<Write>(segments(p.ma, from), p.mb, 13)) == 0);
    check_sent<Write>(p.a.sent(), p.qa, 0);
    const std::vector<char> message = gathered(p.ma, from);
    CHECK(std::memcmp(p.mb.bytes.data() + 13, message.data(), message.size()) == 0);
    CHECK(all_zero(p.mb.bytes, 0, 13));
    CHECK(all_zero(p.mb.bytes, 13 + message.size(), p.mb.bytes.size()));
}

TEST_CASE("a read scatters what lies in one piece") {
    Pair p{kManySegments};
    p.mb.fill(1);
    const std::vector<Span> into{{3, 1}, {100, 2999}, {50, 17}, {9000, 4001}};
    REQUIRE(post(p.qa.get(), work<Read>(segments(p.ma, into), p.mb, 13)) == 0);
    check_sent<Read>(p.a.sent(), p.qa, total(into));
    const std::vector<char> message = gathered(p.ma, into);
    CHECK(std::memcmp(p.mb.bytes.data() + 13, message.data(), message.size()) == 0);
    CHECK(all_zero(p.ma.bytes, 4, 50));
    CHECK(all_zero(p.ma.bytes, 67, 100));
    CHECK(all_zero(p.ma.bytes, 13001, p.ma.bytes.size()));
}

TEST_CASE("a write with immediate data leaves the memory of the receive alone") {
    Pair p;
    p.ma.fill(1);
    REQUIRE(post_receive(p.qb.get(), {.id = kReceiveId, .segments = {p.mb.segment(0, 100)}}) == 0);
    REQUIRE(post(p.qa.get(), work<WriteWithImm>({p.ma.segment(0, 50)}, p.mb, 200)) == 0);
    check_received<WriteWithImm>(p.b.received(), p.qb, 50);
    CHECK(all_zero(p.mb.bytes, 0, 200));
    CHECK(std::memcmp(p.mb.bytes.data() + 200, p.ma.bytes.data(), 50) == 0);
}
