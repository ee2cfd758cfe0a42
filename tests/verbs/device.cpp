// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "device.hpp"

#include <cstdlib>
#include <stdexcept>

namespace rig {
namespace {

// On Ethernet the last RoCE v2 address, as that of IPv4 comes after those of IPv6.
void choose_gid(ibv_context* context, Device& d) {
    ibv_global_route& route = d.path.grh;
    route.hop_limit = 64;
    if (d.port.link_layer != IBV_LINK_LAYER_ETHERNET) {
        if (ibv_query_gid(context, kPort, 0, &route.dgid)) throw std::runtime_error("no GID");
        return;
    }
    ibv_gid_entry entry{};
    bool found = false;
    for (uint8_t i = 0; i < 255 && i < d.port.gid_tbl_len; ++i) {
        if (ibv_query_gid_ex(context, kPort, i, &entry, 0)) continue;
        if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
        route.dgid = entry.gid;
        route.sgid_index = i;
        found = true;
    }
    if (!found) throw std::runtime_error(d.name + " has no RoCE v2 GID");
}

Device describe() {
    const Context context = open_device();
    Device d;
    d.name = ibv_get_device_name(context->device);
    if (ibv_query_device(context.get(), &d.attr) || ibv_query_port(context.get(), kPort, &d.port))
        throw std::runtime_error(d.name + " does not tell its attributes");
    d.path.is_global = 1;
    d.path.dlid = d.port.lid;
    d.path.port_num = kPort;
    choose_gid(context.get(), d);
    return d;
}

} // namespace

Context open_device() {
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    const char* wanted = std::getenv("ODRC_TEST_DOMAIN");
    ibv_context* context = nullptr;
    for (int i = 0; i < count && !context; ++i) {
        if (!wanted || std::string{wanted} == ibv_get_device_name(list[i]))
            context = ibv_open_device(list[i]);
    }
    if (list) ibv_free_device_list(list);
    if (!context) throw std::runtime_error(wanted ? std::string{"no "} + wanted : "no device");
    return Context{context};
}

const Device& device() {
    static const Device d = describe();
    return d;
}

} // namespace rig
