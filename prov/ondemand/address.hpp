// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>

namespace odrc::ondemand {

// The address of an endpoint: that of its UDP socket, as FI_SOCKADDR_IN or FI_SOCKADDR_IN6.
class Address {
public:
    Address() noexcept
        : sa_{} {}

    // From a socket address of at most that many bytes; none if it is no complete IPv4 or IPv6
    // address.
    static std::optional<Address> from(const void* sockaddr, size_t length) noexcept;

    const sockaddr* get() const noexcept { return &sa_.any; }
    sa_family_t family() const noexcept { return sa_.any.sa_family; }
    socklen_t length() const noexcept {
        return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    }
    uint16_t port() const noexcept;   // host order
    void set_port(uint16_t) noexcept; // host order
    bool wildcard() const noexcept;   // 0.0.0.0 or ::
    bool operator==(const Address& other) const noexcept;
    size_t hash() const noexcept;

    // "fi_sockaddr_in://10.0.0.1:4711", as libfabric writes addresses.
    std::string text() const;

private:
    union {
        sockaddr any;
        sockaddr_in v4;
        sockaddr_in6 v6;
    } sa_;
};

// The address of this host from which others are reached: that of the default route, else
// loopback.
Address default_address(sa_family_t family) noexcept;

// Whether an address is one of this host's own.
bool is_local(const Address& address) noexcept;

} // namespace odrc::ondemand

template <>
struct std::hash<odrc::ondemand::Address> {
    size_t operator()(const odrc::ondemand::Address& a) const noexcept { return a.hash(); }
};
