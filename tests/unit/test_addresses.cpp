// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/address_table.hpp"
#include "ondemand/wireup_message.hpp"
#include "srq/window.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <random>

using namespace odrc::ondemand;

namespace {

Address v4(uint32_t ip, uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(ip);
    a.sin_port = htons(port);
    return *Address::from(&a, sizeof a);
}

} // namespace

TEST_CASE("an address is what its bytes say, or none") {
    CHECK(v4(0x0a000001, 4711).text() == "fi_sockaddr_in://10.0.0.1:4711");
    CHECK(v4(0x0a000001, 1) == v4(0x0a000001, 1));
    CHECK_FALSE(v4(0x0a000001, 1) == v4(0x0a000001, 2));
    CHECK(v4(0, 1).wildcard());

    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(5);
    six.sin6_flowinfo = 99;
    six.sin6_addr = in6addr_loopback;
    const auto a = Address::from(&six, sizeof six);
    REQUIRE(a);
    CHECK(a->text() == "fi_sockaddr_in6://[::1]:5");
    six.sin6_flowinfo = 0;
    CHECK(*a == *Address::from(&six, sizeof six));
    CHECK(a->hash() == Address::from(&six, sizeof six)->hash());

    CHECK_FALSE(Address::from(&six, sizeof six - 1));
    CHECK_FALSE(Address::from(&six, 1));
    six.sin6_family = AF_UNIX;
    CHECK_FALSE(Address::from(&six, sizeof six));
}

TEST_CASE("the address table numbers addresses in order, and finds them again") {
    AddressTable table;
    for (uint32_t i = 0; i < 1000; ++i) CHECK(table.insert(v4(i, 1)) == i);
    CHECK(table.find(v4(500, 1)) == 500);
    CHECK(table.find(v4(500, 2)) == FI_ADDR_NOTAVAIL);
    CHECK(table.at(999) == v4(999, 1));
    CHECK_FALSE(table.at(1000));
    CHECK_FALSE(table.at(FI_ADDR_UNSPEC));

    const uint64_t before = table.generation();
    CHECK(table.remove(500));
    CHECK(table.generation() != before);
    CHECK_FALSE(table.remove(500));
    CHECK_FALSE(table.at(500));
    CHECK(table.find(v4(500, 1)) == FI_ADDR_NOTAVAIL);
    CHECK(table.insert(v4(7777, 1)) == 500);

    // The same address under a second number outlives the first.
    CHECK(table.insert(v4(3, 1)) == 1000);
    CHECK(table.remove(3));
    CHECK(table.find(v4(3, 1)) == 1000);
}

TEST_CASE("a million addresses take the memory that is stated") {
    constexpr uint32_t kMany = 1'000'000;
    AddressTable table, prepared, named;
    prepared.expect(kMany);
    const size_t before = prepared.memory_bytes();
    for (uint32_t i = 0; i < kMany; ++i) {
        table.insert(v4(i, 1));
        prepared.insert(v4(i, 1));
        named.insert(v4(i, 1), i + 5);
    }
    const auto per_address = [](size_t bytes) { return static_cast<double>(bytes) / kMany; };
    MESSAGE("bytes per address: ", per_address(table.memory_bytes()),
            ", with names of the program's own: ", per_address(named.memory_bytes()));
    // The index has 2^21 places of 4 bytes, and pages are filled to the last.
    CHECK(per_address(table.memory_bytes()) <= 36.5);
    CHECK(per_address(named.memory_bytes()) <= 44.5);
    CHECK(prepared.memory_bytes() - before <= 28.1 * kMany); // the index was there already
    CHECK(table.find(v4(kMany - 1, 1)) == kMany - 1);
    CHECK(named.id_of(kMany - 1) == kMany + 4);
}

TEST_CASE("an address has a name of its own, if one was given") {
    AddressTable table;
    CHECK(table.insert(v4(0, 1)) == 0);
    CHECK(table.insert(v4(1, 1), 100) == 1);
    CHECK(table.insert(v4(2, 1)) == 2);
    CHECK(table.id_of(0) == 0);
    CHECK(table.id_of(1) == 100);
    CHECK(table.id_of(2) == 2);
    CHECK(table.id_of(3) == FI_ADDR_NOTAVAIL);
    const uint64_t before = table.generation();
    CHECK(table.identify(2, 200));
    CHECK(table.generation() != before);
    CHECK(table.id_of(2) == 200);
    CHECK_FALSE(table.identify(3, 300));
    CHECK(table.remove(1));
    CHECK(table.id_of(1) == FI_ADDR_NOTAVAIL);
    CHECK(table.insert(v4(9, 1)) == 1);
    CHECK(table.id_of(1) == 1); // the old name went with the old address
}

TEST_CASE("the address table agrees with a map under random use") {
    AddressTable table;
    std::map<fi_addr_t, Address> reference;
    std::mt19937 random{2};
    for (int i = 0; i < 50'000; ++i) {
        if (reference.size() < 100 || random() % 2) {
            const Address a = v4(random() % 300, 1);
            fi_addr_t lowest_free = 0;
            while (reference.contains(lowest_free)) ++lowest_free;
            CHECK(table.insert(a) == lowest_free);
            reference.emplace(lowest_free, a);
        } else {
            const auto victim = std::next(reference.begin(), random() % reference.size());
            CHECK(table.remove(victim->first));
            reference.erase(victim);
        }
        const Address probe = v4(random() % 300, 1);
        const fi_addr_t found = table.find(probe);
        const bool known = std::any_of(reference.begin(), reference.end(),
                                       [&](const auto& r) { return r.second == probe; });
        CHECK(known == (found != FI_ADDR_NOTAVAIL));
        if (known) CHECK(reference.at(found) == probe);
    }
}

TEST_CASE("a wireup datagram comes back as it was written") {
    WireupMessage m{
        .type = WireupType::request,
        .endpoint = 0x1122334455667788,
        .to = 0x99aabbccddeeff00,
        .ticket = 0x1234567812345678,
        .attempt = 3,
        .answered_attempt = 4,
        .losses = 6,
        .received = 9,
        .reason = 5,
        .qp = {.qpn = 0xabcdef, .psn = 0x123456, .lid = 7, .mtu = 5, .rd_atomic = 16, .gid = {}},
        .wants_events = 1,
        .window = 64,
        .node = 0xa1b2c3d4e5f60718};
    for (int i = 0; i < 16; ++i) m.qp.gid.raw[i] = uint8_t(i);
    const WireupDatagram datagram = encode(m);
    const auto back = decode(datagram);
    REQUIRE(back);
    CHECK(back->type == m.type);
    CHECK(back->endpoint == m.endpoint);
    CHECK(back->to == m.to);
    CHECK(back->ticket == m.ticket);
    CHECK(back->attempt == 3);
    CHECK(back->answered_attempt == 4);
    CHECK(back->losses == 6);
    CHECK(back->received == 9);
    CHECK(back->reason == 5);
    CHECK(back->qp.qpn == 0xabcdef);
    CHECK(back->qp.psn == 0x123456);
    CHECK(back->qp.lid == 7);
    CHECK(back->qp.mtu == 5);
    CHECK(back->qp.rd_atomic == 16);
    CHECK(back->wants_events == 1);
    CHECK(back->window == 64);
    CHECK(back->node == m.node);
    CHECK(std::memcmp(back->qp.gid.raw, m.qp.gid.raw, 16) == 0);

    SUBCASE("cut or lengthened, it is refused") {
        for (size_t n = 0; n < datagram.size(); ++n)
            CHECK_FALSE(decode(std::span{datagram}.first(n)));
        std::vector<std::byte> longer(datagram.begin(), datagram.end());
        longer.push_back({});
        CHECK_FALSE(decode(longer));
    }
    SUBCASE("of another version, it is refused") {
        WireupDatagram other = datagram;
        other[4] = std::byte{kWireupVersion + 1};
        CHECK_FALSE(decode(other));
    }
    SUBCASE("with a field out of range, it is refused") {
        for (auto spoil :
             {+[](WireupMessage& x) { x.qp.qpn = 1 << 24; },
              +[](WireupMessage& x) { x.qp.psn = 1 << 24; },
              +[](WireupMessage& x) { x.qp.mtu = 0; }, +[](WireupMessage& x) { x.qp.mtu = 6; },
              +[](WireupMessage& x) { x.qp.rd_atomic = 0; },
              +[](WireupMessage& x) { x.wants_events = 2; },
              +[](WireupMessage& x) { x.window = 0; },
              +[](WireupMessage& x) {
                  x.window = static_cast<uint16_t>(odrc::srq::kMostWindow + 1);
              },
              +[](WireupMessage& x) { x.type = WireupType{0}; },
              +[](WireupMessage& x) { x.type = WireupType{16}; }}) {
            WireupMessage bad = m;
            spoil(bad);
            CHECK_FALSE(decode(encode(bad)));
        }
    }
}
