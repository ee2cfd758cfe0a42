// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/tickets.hpp"
#include "ondemand/wireup_message.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <set>
#include <string_view>

using namespace odrc::ondemand;

namespace {

Seal seal_of(std::string_view key) { return Seal{std::as_bytes(std::span{key})}; }

Address v4(const char* ip, uint16_t port) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, ip, 4);
    return *Address::from(&in, sizeof in);
}

Address v6(uint8_t last, uint16_t port, uint32_t scope) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    in.sin6_addr.s6_addr[0] = 0xfe;
    in.sin6_addr.s6_addr[15] = last;
    in.sin6_scope_id = scope;
    return *Address::from(&in, sizeof in);
}

WireupDatagram some_datagram() {
    WireupMessage m{};
    m.type = WireupType::confirm;
    m.endpoint = 11;
    m.to = 12;
    m.attempt = 13;
    return encode(m);
}

const Address here = v4("\x7f\0\0\1", 4711);

} // namespace

TEST_CASE("a seal holds for what it was made, and for nothing else") {
    for (const std::string_view key :
         {"", "k", "a key that is longer than what is made of it ..."}) {
        const Seal seal = seal_of(key);
        CHECK(seal.keyed() == !key.empty());
        WireupDatagram datagram = some_datagram();
        seal.put(datagram, here);
        CHECK(seal.holds(datagram, here));
        CHECK(seal_of(key).holds(datagram, here));
        CHECK(decode(datagram));

        for (size_t bit = 0; bit < 8 * datagram.size(); ++bit) {
            WireupDatagram other = datagram;
            other[bit / 8] ^= std::byte(1 << bit % 8);
            CHECK_FALSE(seal.holds(other, here));
        }
        for (const Address& other :
             {v4("\x7f\0\0\1", 4712), v4("\x7f\0\0\2", 4711), v6(1, 4711, 0)})
            CHECK_FALSE(seal.holds(datagram, other));
        for (const std::string_view other : {"", "K", "k ", "a key that is longer"})
            if (other != key) CHECK_FALSE(seal_of(other).holds(datagram, here));
        CHECK_FALSE(seal.holds(some_datagram(), here)); // not sealed
    }
}

TEST_CASE("a seal does not depend on what only one host knows of an address") {
    const Seal seal = seal_of("k");
    WireupDatagram datagram = some_datagram();
    seal.put(datagram, v6(1, 4711, 2));
    CHECK(seal.holds(datagram, v6(1, 4711, 3)));
    CHECK_FALSE(seal.holds(datagram, v6(2, 4711, 2)));
}

TEST_CASE("every length of key is its own") {
    std::set<std::string> seals;
    const std::string zeros(Seal::kMaxKey, '\0');
    for (size_t n = 0; n <= zeros.size(); ++n) {
        WireupDatagram datagram = some_datagram();
        seal_of(std::string_view{zeros}.substr(0, n)).put(datagram, here);
        const auto* bytes = reinterpret_cast<const char*>(datagram.data());
        seals.emplace(bytes + datagram.size() - Seal::kBytes, Seal::kBytes);
    }
    CHECK(seals.size() == zeros.size() + 1);
}

TEST_CASE("a ticket is for one address and one endpoint, until they are renewed") {
    Tickets tickets, others;
    const uint64_t ticket = tickets.of(here, 1);
    CHECK(ticket != 0);
    CHECK(tickets.of(here, 1) == ticket);
    CHECK(tickets.of(here, 2) != ticket);
    CHECK(tickets.of(v4("\x7f\0\0\1", 4712), 1) != ticket);
    CHECK(tickets.of(v6(1, 4711, 0), 1) != ticket);
    CHECK(others.of(here, 1) != ticket);
    tickets.renew();
    CHECK(tickets.of(here, 1) != ticket);
}
