// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/remote_copy.hpp"

#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace odrc::transfer;

namespace {

// A copy between pieces of these lengths. Each side's memory is one stretch that the pieces cut
// up, with gaps between them, so that an address tells which byte is meant.
struct Rig {
    static constexpr size_t kGap = 1000;

    Rig(std::vector<size_t> ours, std::vector<size_t> theirs) {
        REQUIRE(copy.keys.make(ours.size(), longs.registrations));
        REQUIRE(copy.remote.make(theirs.size(), longs.segments));
        for (size_t i = 0; i < ours.size(); ++i) {
            pieces.push_back({reinterpret_cast<void*>(1'000'000 + i * kGap), ours[i]});
            copy.keys[i] = {static_cast<uint32_t>(100 + i), 0};
        }
        copy.local = pieces;
        for (size_t i = 0; i < theirs.size(); ++i) {
            copy.remote[i] = {.address = 2'000'000 + i * kGap,
                              .length = theirs[i],
                              .rkey = static_cast<uint32_t>(200 + i),
                              .soft_rkey = 0};
            copy.bytes += theirs[i];
        }
    }

    // Which bytes go where, in order: a pair of addresses for each byte.
    std::vector<std::pair<uint64_t, uint64_t>> all(size_t most, uint32_t max_segments) {
        std::vector<std::pair<uint64_t, uint64_t>> moves;
        while (copy.left() > 0) {
            ibv_send_wr wr{};
            Segments segments;
            const size_t n = copy.next(false, most, max_segments, wr, segments);
            REQUIRE(n > 0);
            CHECK(n <= most);
            CHECK(wr.sg_list == segments.list.data());
            CHECK(wr.num_sge <= static_cast<int>(max_segments));
            CHECK(wr.wr.rdma.rkey == 200 + (wr.wr.rdma.remote_addr - 2'000'000) / kGap);
            uint64_t remote = wr.wr.rdma.remote_addr;
            for (int i = 0; i < wr.num_sge; ++i) {
                const ibv_sge& s = wr.sg_list[i];
                CHECK(s.length > 0);
                CHECK(s.lkey == 100 + (s.addr - 1'000'000) / kGap);
                for (uint32_t b = 0; b < s.length; ++b) moves.emplace_back(s.addr + b, remote++);
            }
            CHECK(remote - wr.wr.rdma.remote_addr == n);
            copy.advance(n);
            ++requests;
        }
        return moves;
    }

    std::vector<iovec> pieces;
    LongLists longs;
    RemoteCopy copy;
    int requests{0};
};

// The addresses of all bytes of one side.
std::vector<uint64_t> addresses(uint64_t base, const std::vector<size_t>& lengths) {
    std::vector<uint64_t> all;
    for (size_t i = 0; i < lengths.size(); ++i)
        for (size_t b = 0; b < lengths[i]; ++b) all.push_back(base + i * Rig::kGap + b);
    return all;
}

} // namespace

TEST_CASE("a copy in one piece is one work request, or as many as its length takes") {
    Rig whole{{900}, {900}};
    CHECK(whole.all(1 << 20, 4).size() == 900);
    CHECK(whole.requests == 1);
    Rig cut{{900}, {900}};
    CHECK(cut.all(400, 4).size() == 900);
    CHECK(cut.requests == 3);
}

TEST_CASE("one work request gathers our pieces, and reaches over one of the peer's") {
    Rig rig{{10, 20, 30}, {25, 0, 35}};
    rig.all(1 << 20, 9);
    CHECK(rig.requests == 2);
    Rig few{{10, 10, 10, 10}, {40}};
    few.all(1 << 20, 2);
    CHECK(few.requests == 2);
}

TEST_CASE("a copy of nothing is one empty work request") {
    Rig rig{{0, 0}, {0}};
    ibv_send_wr wr{};
    Segments segments;
    CHECK(rig.copy.next(false, 1 << 20, 9, wr, segments) == 0);
    CHECK(wr.num_sge == 0);
    CHECK(rig.copy.left() == 0);
}

TEST_CASE("however the pieces fall, each byte goes to its place, once") {
    std::mt19937 random{3};
    for (int round = 0; round < 300; ++round) {
        const auto cut = [&](size_t total) {
            std::vector<size_t> lengths;
            while (lengths.size() + 1 < wire::kIovLimit && total > 0 && random() % 9 != 0) {
                lengths.push_back(random() % (total + 1));
                total -= lengths.back();
            }
            lengths.push_back(total);
            return lengths;
        };
        const size_t total = 1 + random() % 900;
        const auto ours = cut(total), theirs = cut(total);
        Rig rig{ours, theirs};
        const auto moves = rig.all(1 + random() % 500, 1 + random() % wire::kIovLimit);
        const auto from = addresses(1'000'000, ours), to = addresses(2'000'000, theirs);
        REQUIRE(moves.size() == total);
        for (size_t i = 0; i < total; ++i) {
            REQUIRE(moves[i].first == from[i]);
            REQUIRE(moves[i].second == to[i]);
        }
    }
}
