// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/resolve.hpp"

#include "base/log.hpp"
#include "ofi/address_format.hpp"
#include "ofi/devices.hpp"

#include <memory>
#include <netdb.h>

namespace odrc::ofi {
namespace {

using ondemand::Address;

sa_family_t family_of(uint32_t format) noexcept {
    return format == FI_SOCKADDR_IN ? AF_INET : format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_UNSPEC;
}

std::optional<Address> interface_of(const verbs::Port& port) noexcept {
    return Address::from(&port.address, sizeof port.address);
}

bool same_host(const Address& a, Address b) noexcept {
    b.set_port(a.port());
    return a == b;
}

// The interface of another RDMA port than this one.
bool belongs_elsewhere(const Address& address, const verbs::Port& port) {
    for (const auto& device : devices()) {
        const auto its = interface_of(device->port());
        if (device->port().name() != port.name() && !device->port().this_host_only && its &&
            same_host(*its, address))
            return true;
    }
    return false;
}

} // namespace

int resolve(const char* node, const char* service, sa_family_t family, bool numeric, bool local,
            Address& out) {
    addrinfo wanted{};
    wanted.ai_family = family;
    wanted.ai_socktype = SOCK_DGRAM;
    wanted.ai_flags = (local ? AI_PASSIVE : 0) | (numeric ? AI_NUMERICHOST : 0);
    addrinfo* found = nullptr;
    const int error = getaddrinfo(node, service, &wanted, &found);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list{found, freeaddrinfo};
    for (const addrinfo* i = error ? nullptr : found; i; i = i->ai_next) {
        if (const auto address = Address::from(i->ai_addr, i->ai_addrlen)) {
            out = *address;
            return 0;
        }
    }
    ODRC_INFO(FI_LOG_CORE, "node {}, service {}: {}", node ? node : "(none)",
              service ? service : "(none)", error ? gai_strerror(error) : "no IP address");
    return -FI_ENODATA;
}

int resolve(const char* node, const char* service, uint64_t flags, const fi_info* hints,
            Endpoints& out) {
    out.native = native_format(hints);
    out.family = hints ? family_of(hints->addr_format) : sa_family_t{AF_UNSPEC};
    if (hints && hints->src_addr) {
        const auto address = AnyAddress::from(hints->src_addr, hints->src_addrlen);
        if (!address) return -FI_ENODATA;
        out.source = address->socket;
    }
    if (hints && hints->dest_addr) {
        const auto address = AnyAddress::from(hints->dest_addr, hints->dest_addrlen);
        if (!address) return -FI_ENODATA;
        out.destination = address->socket;
    }
    if (!node && !service) return 0;
    const bool source = flags & FI_SOURCE;
    Address address;
    if (const int error =
            resolve(node, service, out.family, (flags & FI_NUMERICHOST) != 0, source, address))
        return error;
    (source ? out.source : out.destination) = address;
    return 0;
}

bool serves(const verbs::Port& port, const Endpoints& endpoints, Address& source) {
    const auto& [from, to, wanted_family, native] = endpoints;
    if (to && port.this_host_only && !to->wildcard() && !ondemand::is_local(*to)) return false;
    if (from && !from->wildcard()) {
        if (!ondemand::is_local(*from) || belongs_elsewhere(*from, port)) return false;
        source = *from;
        return wanted_family == AF_UNSPEC || source.family() == wanted_family;
    }
    const sa_family_t family = wanted_family != AF_UNSPEC ? wanted_family
                               : from                     ? from->family()
                               : to                       ? to->family()
                                                          : sa_family_t{AF_UNSPEC};
    // By default, the address of the port's own interface, or that of the default route.
    const auto own = interface_of(port);
    if (own && (family == AF_UNSPEC || own->family() == family))
        source = *own;
    else
        source = ondemand::default_address(family == AF_INET6 ? AF_INET6 : AF_INET);
    source.set_port(from ? from->port() : 0);
    return true;
}

} // namespace odrc::ofi
