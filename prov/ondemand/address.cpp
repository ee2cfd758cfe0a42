// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/address.hpp"

#include "base/fd.hpp"
#include "base/format.hpp"

#include <arpa/inet.h>
#include <cstring>

namespace odrc::ondemand {
namespace {

uint64_t mix(uint64_t x) noexcept { // the finalizer of splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// With the discard port: any but 0 will do.
Address from_text(const char* ip, sa_family_t family) noexcept {
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    v4.sin_family = AF_INET;
    v6.sin6_family = AF_INET6;
    v4.sin_port = v6.sin6_port = htons(9);
    if (family == AF_INET6) {
        inet_pton(AF_INET6, ip, &v6.sin6_addr);
        return *Address::from(&v6, sizeof v6);
    }
    inet_pton(AF_INET, ip, &v4.sin_addr);
    return *Address::from(&v4, sizeof v4);
}

} // namespace

std::optional<Address> Address::from(const void* sockaddr, size_t length) noexcept {
    Address a;
    sa_family_t family = AF_UNSPEC;
    if (length < sizeof family) return std::nullopt;
    std::memcpy(&family, sockaddr, sizeof family);
    if (family != AF_INET && family != AF_INET6) return std::nullopt;
    const size_t needed = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (length < needed) return std::nullopt;
    std::memcpy(static_cast<void*>(&a.sa_), sockaddr, needed);
    // What plays no part in who is meant must not tell equals apart.
    if (family == AF_INET)
        std::memset(a.sa_.v4.sin_zero, 0, sizeof a.sa_.v4.sin_zero);
    else
        a.sa_.v6.sin6_flowinfo = 0;
    return a;
}

uint16_t Address::port() const noexcept {
    return ntohs(family() == AF_INET6 ? sa_.v6.sin6_port : sa_.v4.sin_port);
}

void Address::set_port(uint16_t port) noexcept {
    (family() == AF_INET6 ? sa_.v6.sin6_port : sa_.v4.sin_port) = htons(port);
}

bool Address::wildcard() const noexcept {
    return family() == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&sa_.v6.sin6_addr)
                                : sa_.v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

bool Address::operator==(const Address& other) const noexcept {
    return family() == other.family() && std::memcmp(&sa_, &other.sa_, length()) == 0;
}

size_t Address::hash() const noexcept {
    if (family() == AF_INET) return mix(uint64_t{sa_.v4.sin_addr.s_addr} << 16 | sa_.v4.sin_port);
    uint64_t half[2];
    std::memcpy(half, &sa_.v6.sin6_addr, sizeof half);
    return mix(half[0] ^ mix(half[1] ^ sa_.v6.sin6_port));
}

std::string Address::text() const {
    char host[INET6_ADDRSTRLEN] = "?";
    if (family() == AF_INET6) {
        inet_ntop(AF_INET6, &sa_.v6.sin6_addr, host, sizeof host);
        return odrc::format("fi_sockaddr_in6://[{}]:{}", host, port());
    }
    inet_ntop(AF_INET, &sa_.v4.sin_addr, host, sizeof host);
    return odrc::format("fi_sockaddr_in://{}:{}", host, port());
}

Address default_address(sa_family_t family) noexcept {
    // Connecting a datagram socket sends nothing; it makes the kernel choose a route and with it
    // a source address. The destinations are addresses set aside for documentation.
    const bool six = family == AF_INET6;
    const Address outside = from_text(six ? "2001:db8::1" : "192.0.2.1", family);
    const Fd probe{socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_storage chosen{};
    socklen_t length = sizeof chosen;
    if (probe && connect(probe.get(), outside.get(), outside.length()) == 0 &&
        getsockname(probe.get(), reinterpret_cast<sockaddr*>(&chosen), &length) == 0) {
        if (auto address = Address::from(&chosen, length)) {
            address->set_port(0);
            return *address;
        }
    }
    return from_text(six ? "::1" : "127.0.0.1", family);
}

bool is_local(const Address& address) noexcept {
    // Only an address of this host can be bound to.
    Address any_port = address;
    any_port.set_port(0);
    const Fd probe{socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    return probe && bind(probe.get(), any_port.get(), any_port.length()) == 0;
}

} // namespace odrc::ondemand
