// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Lists of queue pairs that addresses have no room for (fi_odrc.h: FI_ODRC_RANGES_OPS).

#include "far.hpp"
#include "job.hpp"
#include "tests/forks.hpp"

#include <arpa/inet.h>

using namespace duo;

namespace {

fi_odrc_ranges_ops* ranges_ops(fid_ep* ep) {
    void* ops = nullptr;
    check(fi_open_ops(&ep->fid, FI_ODRC_RANGES_OPS, 0, &ops, nullptr), "fi_open_ops of lists");
    return static_cast<fi_odrc_ranges_ops*>(ops);
}

// Of an endpoint that will publish its list.
Wishes listed(Wishes wishes) {
    wishes.prepare = [before = wishes.prepare](fid_ep* ep) {
        before(ep);
        ranges_ops(ep);
    };
    return wishes;
}

std::string list_of(const Watched& side) {
    auto* ops = ranges_ops(side.ep());
    size_t length = 0;
    CHECK(ops->get(side.ep(), nullptr, &length) == -FI_ETOOSMALL);
    std::string list(length, '\0');
    REQUIRE(ops->get(side.ep(), list.data(), &length) == 0);
    CHECK(length == list.size());
    return list;
}

int give(const Watched& side, fi_addr_t peer, const std::string& list) {
    return ranges_ops(side.ep())->give(side.ep(), peer, list.data(), list.size());
}

constexpr size_t kInAddress = 16 + 4 * 5; // a list that is no longer than an address has room for

// Makes queue pairs out of turn, one after the other: for peers that there are not. Not without
// end, since it keeps them.
void crowd(Board& board) {
    std::vector<std::unique_ptr<Watched>> sides;
    std::vector<sockaddr_in> nobody(100);
    for (size_t i = 0; i < nobody.size(); ++i) {
        nobody[i].sin_family = AF_INET;
        nobody[i].sin_port = htons(static_cast<uint16_t>(1 + i));
        nobody[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    for (int i = 0; i < 30; ++i) {
        Watched& side = *sides.emplace_back(std::make_unique<Watched>());
        board.step = 1;
        for (auto& peer : nobody) {
            const fi_addr_t number =
                side.endpoint.insert({reinterpret_cast<char*>(&peer), sizeof peer});
            check(fi_inject(side.ep(), "x", 1, number), "fi_inject");
        }
    }
    board.step = 2;
    pause();
}

// The last two of a large job, whose addresses have no room for them; false if they turn out to
// have.
constexpr uint32_t kSize = 200;
bool make_scattered(Company& c) {
    const auto end = Clock::now() + std::chrono::seconds{10};
    for (const uint32_t rank : {kSize - 2, kSize - 1})
        for (bool scattered = false; !scattered;) {
            if (Clock::now() > end) return false;
            Child others{crowd};
            for (others.await(1); others.board->step == 1 && !scattered;) {
                c.add(listed(place(rank, kSize)));
                scattered = list_of(*c.members.back()).size() > kInAddress;
                if (!scattered) c.members.pop_back();
            }
        }
    return true;
}

} // namespace

TEST_CASE("peers that an address has no room for connect by lists, without a word" * forks()) {
    if (!room_for(kSize)) return;
    Company c{0};
    if (!make_scattered(c)) {
        MESSAGE("all numbers have room in an address");
        return;
    }
    const std::string lists[] = {list_of(c[0]), list_of(c[1])};
    CHECK(statistics_of(c[0]).published_bytes == 64 + lists[0].size());
    c.introduce(0, 1);
    c.introduce(1, 0);
    bool given = false;
    SUBCASE("with lists") {
        CHECK(give(c[0], c.numbers[0][1], lists[1]) == 0);
        CHECK(give(c[1], c.numbers[1][0], lists[0]) == 0);
        CHECK(give(c[1], c.numbers[1][0], lists[0]) == 0); // once more
        given = true;
    }
    SUBCASE("without them, by the wireup") {}
    SUBCASE("by the wireup, if only one has the other's") {
        CHECK(give(c[0], c.numbers[0][1], lists[1]) == 0);
    }
    c.talk(0, 1);
    c.talk(1, 0);
    CHECK((c.datagrams() == 0) == given);
    CHECK(give(c[1], c.numbers[1][0], lists[0]) == 0); // too late
    c.talk(1, 0);
    for (const auto& member : c.members) CHECK(statistics_of(*member).connections_made == 1);
}

TEST_CASE("lists of what the addresses have room for say nothing new") {
    Company c{0};
    for (const uint32_t rank : {0, 1, 2}) c.add(listed(place(rank, 3)));
    c.introduce_all();
    for (size_t to = 0; to < 3; ++to)
        for (size_t who = 0; who < 3; ++who)
            CHECK(give(c[to], c.numbers[to][who], list_of(c[who])) == 0);
    c.all_talk();
    if (room_for(3)) CHECK(c.datagrams() == 0);
}

TEST_CASE("what is no list of that peer's is refused") {
    Company c{2};
    c.introduce(0, 1);
    const std::string list = list_of(c[1]);
    const fi_addr_t peer = c.numbers[0][1];
    CHECK(give(c[0], peer, list) == 0);
    CHECK(give(c[0], peer, "") == -FI_EINVAL);
    CHECK(give(c[0], peer, list + "x") == -FI_EINVAL);
    CHECK(give(c[0], peer, list.substr(1)) == -FI_EINVAL);
    CHECK(give(c[0], peer, list_of(c[0])) == -FI_EINVAL);
    CHECK(give(c[0], peer + 1, list) == -FI_EINVAL);
    CHECK(give(c[0], FI_ADDR_UNSPEC, list) == -FI_EINVAL);
    c.introduce(1, 0);
    c.talk(0, 1);

    Duo d{{.caps = kAllCaps, .address_format = FI_SOCKADDR_IN}};
    CHECK(give(d.a, d.to_b, list_of(d.b)) == -FI_EINVAL);
    fid_ep* ep = nullptr;
    REQUIRE(fi_endpoint(d.a.endpoint.domain(), const_cast<fi_info*>(&d.a.endpoint.info()), &ep,
                        nullptr) == 0);
    const Owned<fid_ep> owned{ep};
    size_t length = 0;
    CHECK(ranges_ops(ep)->get(ep, nullptr, &length) == -FI_EOPBADSTATE);
    CHECK(ranges_ops(ep)->give(ep, 0, nullptr, 0) == -FI_EOPBADSTATE);
}
