// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/gid.hpp"

#include "base/format.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <ifaddrs.h>
#include <net/if.h>

namespace odrc::verbs {
namespace {

enum class Reach { none, link_local, routable_v6, v4 };

Reach reach_of(const ibv_gid& gid) noexcept {
    in6_addr a;
    std::memcpy(&a, gid.raw, sizeof a);
    if (IN6_IS_ADDR_V4MAPPED(&a)) return Reach::v4;
    if (IN6_IS_ADDR_LINKLOCAL(&a)) return Reach::link_local;
    return IN6_IS_ADDR_UNSPECIFIED(&a) ? Reach::none : Reach::routable_v6;
}

// A RoCE v2 GID is the IP address of the interface.
sockaddr_storage address_of(const ibv_gid& gid, uint32_t interface) noexcept {
    sockaddr_storage address{};
    if (reach_of(gid) == Reach::v4) {
        auto& in = reinterpret_cast<sockaddr_in&>(address);
        in.sin_family = AF_INET;
        std::memcpy(&in.sin_addr, gid.raw + 12, sizeof in.sin_addr);
    } else {
        auto& in6 = reinterpret_cast<sockaddr_in6&>(address);
        in6.sin6_family = AF_INET6;
        std::memcpy(&in6.sin6_addr, gid.raw, sizeof in6.sin6_addr);
        if (reach_of(gid) == Reach::link_local) in6.sin6_scope_id = interface;
    }
    return address;
}

// The IP network an address belongs to, as "10.0.0.0/24": ports in one network reach each other.
// Also finds the address itself when it is asked for by interface name alone.
std::string network_of(sockaddr_storage& address, const std::string& interface) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all)) return {};
    std::string network;
    for (ifaddrs* i = all; i && network.empty(); i = i->ifa_next) {
        if (!i->ifa_addr || !i->ifa_netmask || !(i->ifa_flags & IFF_UP)) continue;
        const int family = i->ifa_addr->sa_family;
        const size_t bytes = family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
        if (!bytes) continue;
        auto raw = [&](const sockaddr* s) -> const uint8_t* {
            if (family == AF_INET)
                return reinterpret_cast<const uint8_t*>(
                    &reinterpret_cast<const sockaddr_in*>(s)->sin_addr);
            return reinterpret_cast<const uint8_t*>(
                &reinterpret_cast<const sockaddr_in6*>(s)->sin6_addr);
        };
        if (address.ss_family == AF_UNSPEC) {
            if (interface != i->ifa_name) continue;
            std::memcpy(&address, i->ifa_addr,
                        family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        } else if (address.ss_family != family ||
                   std::memcmp(raw(reinterpret_cast<sockaddr*>(&address)), raw(i->ifa_addr),
                               bytes) != 0) {
            continue;
        }
        uint8_t net[16];
        int prefix = 0;
        for (size_t b = 0; b < bytes; ++b) {
            net[b] = raw(i->ifa_addr)[b] & raw(i->ifa_netmask)[b];
            prefix += __builtin_popcount(raw(i->ifa_netmask)[b]);
        }
        char text[INET6_ADDRSTRLEN];
        inet_ntop(family, net, text, sizeof text);
        network = odrc::format("{}/{}", text, prefix);
    }
    freeifaddrs(all);
    return network;
}

bool choose_roce(ibv_context* context, Port& port) {
    Reach best = Reach::none;
    ibv_gid_entry chosen{};
    for (int i = 0; i < port.port_attr.gid_tbl_len && i < 256; ++i) {
        ibv_gid_entry entry{};
        if (ibv_query_gid_ex(context, port.number, static_cast<uint32_t>(i), &entry, 0)) continue;
        if (entry.gid_type != IBV_GID_TYPE_ROCE_V2 || reach_of(entry.gid) <= best) continue;
        best = reach_of(entry.gid);
        chosen = entry;
    }
    if (best == Reach::none) return false;
    port.gid = chosen.gid;
    port.gid_index = static_cast<uint8_t>(chosen.gid_index);
    port.address = address_of(chosen.gid, chosen.ndev_ifindex);
    port.fabric = "RoCE-" + network_of(port.address, {});
    return true;
}

void choose_infiniband(ibv_context* context, Port& port) {
    ibv_query_gid(context, port.number, 0, &port.gid);
    port.fabric = odrc::format("IB-{:#018x}", be64toh(port.gid.global.subnet_prefix));
    std::error_code none;
    for (const auto& net : std::filesystem::directory_iterator{
             "/sys/class/infiniband/" + port.device + "/device/net", none}) {
        if (port.address.ss_family == AF_UNSPEC) network_of(port.address, net.path().filename());
    }
}

} // namespace

bool choose_gid(ibv_context* context, Port& port) {
    if (port.port_attr.link_layer == IBV_LINK_LAYER_ETHERNET) return choose_roce(context, port);
    choose_infiniband(context, port);
    return true;
}

} // namespace odrc::verbs
