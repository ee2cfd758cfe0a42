// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Addresses that name queue pairs, the ranges in them, and when an endpoint has any.

#include "ondemand/connect_rule.hpp"
#include "ondemand/native_address.hpp"
#include "ondemand/queues_in_wait.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <string_view>

using namespace odrc;
using namespace odrc::ondemand;

namespace {

Address socket_v4(const char* ip) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(4711);
    inet_pton(AF_INET, ip, &a.sin_addr);
    return *Address::from(&a, sizeof a);
}

Address socket_v6(const char* ip) {
    sockaddr_in6 a{};
    a.sin6_family = AF_INET6;
    a.sin6_port = htons(4711);
    inet_pton(AF_INET6, ip, &a.sin6_addr);
    return *Address::from(&a, sizeof a);
}

ibv_gid gid(const char* ip) {
    ibv_gid gid;
    inet_pton(AF_INET6, ip, gid.raw);
    return gid;
}

// All that has to be told, at its longest.
NativeAddress address(const Address& socket, const char* its_gid, uint16_t lid) {
    return {.socket = socket,
            .place = {.rank = 65533, .size = 65534, .job = 0xabcd, .endpoint = 63},
            .endpoint = 0x0123456789abcdef,
            .lid = lid,
            .mtu = IBV_MTU_4096,
            .rd_atomic = 16,
            .gid = gid(its_gid),
            .wants_events = true,
            .ranges = {}};
}

bool same(const NativeAddress& a, const NativeAddress& b) {
    return a.socket == b.socket && a.place == b.place && a.endpoint == b.endpoint &&
           a.lid == b.lid && a.mtu == b.mtu && a.rd_atomic == b.rd_atomic &&
           std::memcmp(a.gid.raw, b.gid.raw, sizeof a.gid) == 0 &&
           a.wants_events == b.wants_events && a.datagrams == b.datagrams && a.ranges == b.ranges;
}

// Four, of as many queue pairs as there are processes, or of fewer.
constexpr Range kAll[] = {{1, 60000}, {70000, 5000}, {80000, 533}, {0xfffffe, 1}};
constexpr Range kSome[] = {{1, 60000}, {70000, 5000}, {80000, 5}, {0xfffffe, 2}};

} // namespace

TEST_CASE("numbers are as few ranges as can be") {
    CHECK(to_ranges({}).empty());
    const uint32_t numbers[] = {3, 4, 5, 7, 9, 10};
    CHECK(to_ranges(numbers) == std::vector<Range>{{3, 3}, {7, 1}, {9, 2}});
    CHECK(to_ranges(std::span{numbers}.first(1)) == std::vector<Range>{{3, 1}});
}

TEST_CASE("the longest ranges are kept, in order, and say which number is at which place") {
    const Range all[] = {{10, 1}, {20, 5}, {30, 2}, {40, 3}, {50, 4}, {60, 1}};
    const ShortRanges kept{all};
    const std::vector<Range> list{kept.list().begin(), kept.list().end()};
    CHECK(list == std::vector<Range>{{20, 5}, {30, 2}, {40, 3}, {50, 4}});
    CHECK(kept.total() == 14);
    CHECK(kept.valid());
    CHECK(kept.at(0) == 20);
    CHECK(kept.at(4) == 24);
    CHECK(kept.at(5) == 30);
    CHECK(kept.at(13) == 53);
    CHECK_FALSE(kept.at(14));
    for (uint32_t place = 0; place < 14; ++place)
        CHECK(place_of(kept.list(), *kept.at(place)) == place);
    for (const uint32_t none : {0, 10, 19, 25, 54, 60}) CHECK_FALSE(place_of(kept.list(), none));
    CHECK_FALSE(kept.at(~0u));
    CHECK(ShortRanges{all, 0}.empty());
    CHECK(ShortRanges{all, 1}.list()[0] == Range{20, 5});
    CHECK(ShortRanges{}.valid());

    const Range overlap[] = {{10, 5}, {14, 1}}, backwards[] = {{20, 1}, {10, 1}},
                nothing[] = {{10, 0}}, beyond[] = {{0xffffff, 2}};
    for (const std::span<const Range> bad :
         {std::span<const Range>{overlap}, std::span<const Range>{backwards},
          std::span<const Range>{nothing}, std::span<const Range>{beyond}})
        CHECK_FALSE(ShortRanges{bad}.valid());
}

TEST_CASE("four ranges are within 64 bytes, whatever else is to be told") {
    static_assert(NativeAddress::kBytes == 64);
    struct {
        Address socket;
        const char* gid;
        uint16_t lid;
    } const kinds[] = {
        {socket_v4("10.0.0.1"), "::ffff:10.0.0.1", 0},      // RoCE
        {socket_v4("10.0.0.1"), "::ffff:10.0.0.2", 0},      // RoCE, another interface's
        {socket_v4("10.0.0.1"), "2001:db8::1", 0},          // RoCE, likewise
        {socket_v4("10.0.0.1"), "fe80::1234:5678", 0xffff}, // InfiniBand, and soft0
        {socket_v4("10.0.0.1"), "fec0::1234:5678", 0xffff}, // InfiniBand, a subnet with a name
        {socket_v6("2001:db8::1"), "2001:db8::1", 0},       // RoCE
        {socket_v6("2001:db8::1"), "::ffff:10.0.0.2", 0},   // RoCE, another interface's
        {socket_v6("2001:db8::1"), "fe80::1234:5678", 0},   // RoCE, likewise
        {socket_v6("2001:db8::1"), "fe80::1", 0xffff},      // InfiniBand, and soft0
    };
    for (const auto& kind : kinds) {
        NativeAddress a = address(kind.socket, kind.gid, kind.lid);
        CAPTURE(kind.socket.text());
        CAPTURE(kind.gid);
        REQUIRE(a.most_ranges(true) == 4);
        a.ranges = ShortRanges{kAll};
        auto read = NativeAddress::decode(a.encode());
        REQUIRE(read);
        CHECK(same(*read, a));
        // Where some of the job have none, the last count has to be told, too.
        a.ranges = ShortRanges{kSome, a.most_ranges(false)};
        CHECK(a.ranges.list().size() >= 3);
        read = NativeAddress::decode(a.encode());
        REQUIRE(read);
        CHECK(same(*read, a));
    }
    // The same beside the queue pair that takes first words.
    NativeAddress called = address(socket_v4("10.0.0.1"), "fe80::1234:5678", 0xffff);
    called.datagrams = 0xabcdef;
    REQUIRE(called.most_ranges(true) == 4);
    called.ranges = ShortRanges{kAll};
    const auto told = NativeAddress::decode(called.encode());
    REQUIRE(told);
    CHECK(same(*told, called));
    // The exception, with two whole IPv6 addresses.
    NativeAddress a = address(socket_v6("2001:db8::1"), "2001:db8::2", 0);
    CHECK(a.most_ranges(true) == 2);
    a.ranges = ShortRanges{kSome, 2};
    const auto read = NativeAddress::decode(a.encode());
    REQUIRE(read);
    CHECK(same(*read, a));
}

TEST_CASE("an address without a place in a job says what a socket address says") {
    const NativeAddress a{.socket = socket_v4("10.0.0.1")};
    const auto bytes = a.encode();
    CHECK(NativeAddress::is_meant(bytes.data()));
    const auto read = NativeAddress::decode(bytes);
    REQUIRE(read);
    CHECK(same(*read, a));
    CHECK(read->text() == "fi_odrc://10.0.0.1:4711");
    const Address v4 = a.socket, v6 = socket_v6("::1");
    CHECK_FALSE(NativeAddress::is_meant(v4.get()));
    CHECK_FALSE(NativeAddress::is_meant(v6.get()));
}

TEST_CASE("what is no address is not taken for one") {
    NativeAddress a = address(socket_v4("10.0.0.1"), "::ffff:10.0.0.1", 0);
    a.ranges = ShortRanges{kSome};
    CHECK(NativeAddress::decode(a.encode()));
    const auto refused = [&](auto&& change) {
        auto bytes = a.encode();
        change(bytes);
        return !NativeAddress::decode(bytes);
    };
    const auto set = [](size_t at, uint8_t value) {
        return [=](NativeAddress::Bytes& b) { b[at] = std::byte{value}; };
    };
    CHECK(refused([](auto& b) { b.fill(std::byte{}); }));
    CHECK(refused(set(0, 0xd4)));                                   // of a later version
    CHECK(refused(set(63, 1)));                                     // something at the end
    CHECK(refused(set(1, 0x74)));                                   // seven ranges
    CHECK(refused(set(2, 16)));                                     // no MTU
    CHECK(refused(set(2, 5 << 5)));                                 // no reads
    CHECK(refused([](auto& b) { b[6] = b[7] = std::byte{0xff}; })); // rank
    CHECK(refused([](auto& b) { b[8] = b[9] = std::byte{}; }));     // of none
    CHECK(refused([](auto& b) { b[8] = b[6], b[9] = b[7]; }));      // as large as the job
    CHECK(refused([](auto& b) { b[27] = std::byte{}, b[28] = std::byte{}; })); // a range of none
    CHECK(refused([](auto& b) { b[27] = b[28] = std::byte{0xff}; })); // more than the job has

    a.ranges = {};
    a.datagrams = 1;
    CHECK(NativeAddress::decode(a.encode()));
    CHECK(refused(set(24, 0))); // first words to nobody

    a.datagrams = 0;
    a.ranges = ShortRanges{kAll};
    CHECK(NativeAddress::decode(a.encode()));
    CHECK(refused(set(1, 0x0c)));                                     // all, and no ranges
    CHECK(refused([](auto& b) { b[27] = b[28] = std::byte{0xff}; })); // nothing is left
}

TEST_CASE("no bytes at all are taken for an address that is not sane") {
    std::minstd_rand random{42};
    int taken = 0;
    for (int i = 0; i < 200000; ++i) {
        NativeAddress::Bytes bytes{};
        const size_t filled = random() % 65;
        for (size_t b = 0; b < filled; ++b) bytes[b] = static_cast<std::byte>(random() >> 8);
        bytes[0] = std::byte{0xd3};
        const auto read = NativeAddress::decode(bytes);
        if (!read) continue;
        ++taken;
        CHECK(read->ranges.valid());
        CHECK(read->ranges.total() <= read->place.size);
        CHECK((read->place.rank < read->place.size || read->place == PlaceInJob{}));
        CHECK((read->mtu >= IBV_MTU_256 && read->mtu <= IBV_MTU_4096 && read->rd_atomic > 0));
    }
    CHECK(taken > 0);
}

TEST_CASE("packet numbers begin where both sides say, and nobody else who has not their key") {
    const auto seal = [](std::string_view key) { return Seal{std::as_bytes(std::span{key})}; };
    const QueueName a{1, 10}, b{2, 20};
    for (const std::string_view key : {"", "k"}) {
        const uint32_t psn = first_psn(seal(key), a, b);
        CHECK(psn == first_psn(seal(key), a, b));
        CHECK(psn <= 0xffffff);
        CHECK(psn != first_psn(seal(key), b, a)); // each direction has its own
        CHECK(psn != first_psn(seal(key), {1, 11}, b));
        CHECK(psn != first_psn(seal(key), a, {3, 20}));
        CHECK(psn != first_psn(seal("another"), a, b));
    }
    CHECK(first_psn(seal(""), a, b) != first_psn(seal("k"), a, b));
}

TEST_CASE("who connects to all beforehand") {
    using namespace std::chrono_literals;
    const PlaceInJob job{.rank = 3, .size = 64, .job = 1, .endpoint = 0};
    const auto with = [&](Connect wish, PlaceInJob place, uint32_t lanes = 1000) {
        return choose(Circumstances{wish, place, lanes, 8, false}).all;
    };
    CHECK(with(Connect::automatic, job));
    CHECK(with(Connect::all, job));
    CHECK_FALSE(with(Connect::ondemand, job));
    CHECK_FALSE(with(Connect::all, {}));
    CHECK_FALSE(choose(Circumstances{Connect::all, job, 1000, 8, true}).all);
    CHECK_FALSE(with(Connect::all, job, 63));
    CHECK(with(Connect::all, job, 64));
    PlaceInJob large = job;
    large.size = 900;
    CHECK(with(Connect::all, large));
    CHECK_FALSE(with(Connect::automatic, large));
    const auto took = [&](Connect wish, std::chrono::nanoseconds each) {
        return choose(Circumstances{wish, job, 1000, 8, false}, each).all;
    };
    CHECK(took(Connect::automatic, 50us));
    CHECK_FALSE(took(Connect::automatic, 60us));
    CHECK(took(Connect::all, 1s));
}

TEST_CASE("the launcher says which of how many processes this is") {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
        unsetenv(name);
    CHECK_FALSE(place_by_launcher().known());
    setenv("SLURM_PROCID", "3", 1);
    CHECK_FALSE(place_by_launcher().known());
    setenv("SLURM_NTASKS", "4", 1);
    CHECK(place_by_launcher().rank == 3);
    CHECK(place_by_launcher().size == 4);
    setenv("PMI_RANK", "5", 1); // nearer to the program than the batch system
    setenv("PMI_SIZE", "6", 1);
    CHECK(place_by_launcher().rank == 5);
    for (const char* nonsense : {"5", "x", "", "-1", "65536", "6 "}) {
        setenv("PMI_SIZE", nonsense, 1);
        CHECK(place_by_launcher().size == 4);
    }
    for (const char* name : {"PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS"})
        unsetenv(name);
}
