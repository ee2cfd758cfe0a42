// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/address_table.hpp"
#include "ondemand/wireup_message.hpp"

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

TEST_CASE("the address table agrees with a map under random use") {
    AddressTable table;
    std::map<fi_addr_t, Address> reference;
    std::mt19937 random{2};
    for (int i = 0; i < 50'000; ++i) {
        if (reference.size() < 100 || random() % 2) {
            const Address a = v4(random() % 300, 1);
            const fi_addr_t number = table.insert(a);
            CHECK(reference.emplace(number, a).second);
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
        .attempt = 3,
        .answered_attempt = 4,
        .reason = 5,
        .qp = {.qpn = 0xabcdef, .psn = 0x123456, .lid = 7, .mtu = 5, .rd_atomic = 16, .gid = {}}};
    for (int i = 0; i < 16; ++i) m.qp.gid.raw[i] = uint8_t(i);
    const WireupDatagram datagram = encode(m);
    const auto back = decode(datagram);
    REQUIRE(back);
    CHECK(back->type == m.type);
    CHECK(back->endpoint == m.endpoint);
    CHECK(back->attempt == 3);
    CHECK(back->answered_attempt == 4);
    CHECK(back->reason == 5);
    CHECK(back->qp.qpn == 0xabcdef);
    CHECK(back->qp.psn == 0x123456);
    CHECK(back->qp.lid == 7);
    CHECK(back->qp.mtu == 5);
    CHECK(back->qp.rd_atomic == 16);
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
              +[](WireupMessage& x) { x.type = WireupType{0}; },
              +[](WireupMessage& x) { x.type = WireupType{6}; }}) {
            WireupMessage bad = m;
            spoil(bad);
            CHECK_FALSE(decode(encode(bad)));
        }
    }
}
