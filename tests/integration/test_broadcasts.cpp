// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_broadcast(3): what members do for each other before their programs ask for it.

#include "multicasts.hpp"

#include <utility>

using namespace duo;

namespace {

bool by_packets() {
    const char* way = std::getenv("FI_ODRC_BROADCAST");
    return !way || std::string_view{way} != "message";
}

ssize_t broadcast(const Circle& circle, const Joined& group, size_t rank, std::vector<char>& data,
                  size_t root) {
    return fi_broadcast(circle.ep(rank), data.data(), data.size(), nullptr, group.at(rank), root,
                        FI_INT8, 0, data.data());
}

// So that the others come in between.
void some_polls(Circle& circle) {
    for (int i = 0; i < 50; ++i) circle.poll();
}

} // namespace

TEST_CASE("broadcasts of any length arrive, from each root") {
    for (const size_t size : {2, 3, 5, 8}) {
        Circle circle{size};
        const Joined group{circle, first(size)};
        for (const size_t length : {0, 1, 300, 1100, 8192, 8193, 300'000, 3'000'000}) {
            const size_t root = length % size;
            std::vector<std::vector<char>> data(size, std::vector<char>(length + 1));
            for (auto& d : data) d.resize(length);
            data[root] = pattern(length, 'b');
            data[root].reserve(length + 1);
            for (size_t rank = 0; rank < size; ++rank)
                REQUIRE(broadcast(circle, group, rank, data[rank], root) == 0);
            for (size_t rank = 0; rank < size; ++rank) {
                REQUIRE_FALSE(circle.outcome(rank, data[rank].data()).error);
                CHECK(data[rank] == data[root]);
            }
        }
    }
}

TEST_CASE("who has not begun a broadcast passes it on, and finds it there") {
    if (!by_packets()) return;
    constexpr size_t kSize = 8, kLength = 50'000;
    Circle circle{kSize};
    const Joined group{circle, first(kSize)};
    std::vector<std::vector<char>> data(kSize, std::vector<char>(kLength));
    data[0] = pattern(kLength, 'c');
    REQUIRE(broadcast(circle, group, 0, data[0], 0) == 0);
    REQUIRE(broadcast(circle, group, kSize - 1, data[kSize - 1], 0) == 0); // below two others
    REQUIRE_FALSE(circle.outcome(kSize - 1, data[kSize - 1].data()).error);
    CHECK(data[kSize - 1] == data[0]);
    REQUIRE_FALSE(circle.outcome(0, data[0].data()).error);
    for (size_t rank = 1; rank + 1 < kSize; ++rank) {
        REQUIRE(broadcast(circle, group, rank, data[rank], 0) == 0);
        REQUIRE_FALSE(circle.outcome(rank, data[rank].data()).error);
        CHECK(data[rank] == data[0]);
    }
}

TEST_CASE("many broadcasts of several roots and groups, begun in another order at each member") {
    constexpr size_t kSize = 5, kRounds = 12;
    Circle circle{kSize};
    const Joined one{circle, first(kSize)}, other{circle, {4, 2, 0, 3, 1}};
    std::vector<std::vector<std::vector<char>>> data(2 * kRounds);
    for (size_t i = 0; i < data.size(); ++i)
        data[i].assign(kSize, std::vector<char>(i % 3 ? 100 + i : 20'000 + i));
    const auto root_of = [&](size_t i) { return (i * 3 + 1) % kSize; };
    for (size_t i = 0; i < data.size(); ++i)
        data[i][root_of(i)] = pattern(data[i][0].size(), static_cast<char>(i));
    const auto begin = [&](size_t i, size_t place) {
        const Joined& group = i % 2 ? other : one;
        const size_t rank = group.ranks[place];
        auto& mine = data[i][rank];
        REQUIRE(fi_broadcast(circle.ep(rank), mine.data(), mine.size(), nullptr, group.at(place),
                             root_of(i), FI_INT8, 0, mine.data()) == 0);
    };
    for (size_t place = 0; place < kSize; ++place) {
        for (size_t half : {place % 2, (place + 1) % 2})
            for (size_t i = half; i < data.size(); i += 2) begin(i, place);
        some_polls(circle);
    }
    for (size_t i = 0; i < data.size(); ++i) {
        for (size_t rank = 0; rank < kSize; ++rank) {
            REQUIRE_FALSE(circle.outcome(rank, data[i][rank].data()).error);
            CHECK(data[i][rank] == data[i][root_of(i)]);
        }
    }
}

TEST_CASE("a member that is late by many broadcasts keeps no more than a bound") {
    if (!by_packets()) return;
    constexpr size_t kSize = 4, kLength = 8000, kRounds = 60;
    Circle circle{kSize};
    const Joined group{circle, first(kSize)};
    std::vector<std::vector<char>> data(kSize, std::vector<char>(kLength));
    const uint64_t before = statistics_of(circle[3]).memory_bytes_peak;
    std::vector<size_t> done(kSize);
    std::vector<bool> running(kSize);
    const auto go_on = [&](size_t rank) {
        if (!running[rank] && done[rank] < kRounds) {
            REQUIRE(broadcast(circle, group, rank, data[rank], 0) == 0);
            running[rank] = true;
        }
        const auto o = circle[rank].take(data[rank].data());
        if (!o) return;
        REQUIRE_FALSE(o->error);
        running[rank] = false;
        ++done[rank];
    };
    for (size_t quiet = 0, last = 0; quiet < 50; ++quiet) {
        circle.poll();
        for (size_t rank = 0; rank + 1 < kSize; ++rank) go_on(rank);
        const size_t now = done[0] + done[1] + done[2];
        if (std::exchange(last, now) != now) quiet = 0;
    }
    CHECK(done[0] < kRounds);
    CHECK(done[0] > 4);
    circle.until([&] {
        for (size_t rank = 0; rank < kSize; ++rank) go_on(rank);
        return std::ranges::all_of(done, [](size_t n) { return n == kRounds; });
    });
    CHECK(statistics_of(circle[3]).memory_bytes_peak < before + (size_t{3} << 20));
}

TEST_CASE("members who disagree about the length of a broadcast hear of it, and it alone fails") {
    if (!by_packets()) return;
    Circle circle{4};
    const Joined group{circle, first(4)};
    for (const bool early : {false, true}) {
        std::vector<std::vector<char>> data(4, std::vector<char>(10'000));
        data[2].resize(9'999);
        for (size_t rank = 0; rank < 4; ++rank)
            if (rank != 2 || !early) REQUIRE(broadcast(circle, group, rank, data[rank], 0) == 0);
        some_polls(circle);
        if (early) REQUIRE(broadcast(circle, group, 2, data[2], 0) == 0);
        for (size_t rank = 0; rank < 4; ++rank) {
            const Outcome o = circle.outcome(rank, data[rank].data());
            CHECK(o.error.has_value() == (rank == 2));
            if (rank == 2) CHECK(o.error->err == FI_EIO);
        }
        for (auto& d : data) d.assign(500, 'x');
        for (size_t rank = 0; rank < 4; ++rank)
            REQUIRE(broadcast(circle, group, rank, data[rank], 3) == 0);
        for (size_t rank = 0; rank < 4; ++rank)
            CHECK_FALSE(circle.outcome(rank, data[rank].data()).error);
    }
}

TEST_CASE("who leaves a group before its broadcast is over lets the others know") {
    if (!by_packets()) return;
    Circle circle{4};
    Joined group{circle, first(4)};
    std::vector<std::vector<char>> data(4, std::vector<char>(10));
    for (size_t rank = 0; rank < 3; ++rank)
        REQUIRE(broadcast(circle, group, rank, data[rank], 3) == 0);
    some_polls(circle);
    group.groups[1].reset();
    for (size_t rank = 0; rank < 3; ++rank) {
        const Outcome o = circle.outcome(rank, data[rank].data());
        REQUIRE(o.error);
        CHECK(o.error->err == FI_ECANCELED);
    }
    REQUIRE(broadcast(circle, group, 3, data[3], 3) == 0);
    CHECK(circle.outcome(3, data[3].data()).error);
}
