// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/hca.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "verbs_rc/gid.hpp"
#include "verbs_rc/hca_context.hpp"

#include <cstring>

namespace odrc::verbs {
namespace {

// libibverbs' list of devices, and an opened device, given back at the end of a scope.
struct FreeList {
    void operator()(ibv_device** list) const noexcept { ibv_free_device_list(list); }
};
struct CloseContext {
    void operator()(ibv_context* context) const noexcept { ibv_close_device(context); }
};
using DeviceList = std::unique_ptr<ibv_device*, FreeList>;
using OpenContext = std::unique_ptr<ibv_context, CloseContext>;

class Hca final : public Device {
public:
    explicit Hca(Port port)
        : Device{std::move(port)} {}

    std::unique_ptr<Context> open() const override {
        int count = 0;
        DeviceList list{ibv_get_device_list(&count)};
        for (int i = 0; i < count; ++i) {
            if (port().device != ibv_get_device_name(list.get()[i])) continue;
            if (ibv_context* context = ibv_open_device(list.get()[i]))
                return std::make_unique<HcaContext>(context, port());
        }
        ODRC_WARN(FI_LOG_DOMAIN, "{}: cannot be opened any more: {}", port().name(),
                  fi_strerror(errno));
        throw Error{FI_ENODEV};
    }
};

// Why a device as a whole cannot be used; null if it can.
const char* unusable(const ibv_device& device, const ibv_device_attr& attr) noexcept {
    if (device.transport_type != IBV_TRANSPORT_IB) return "it speaks neither InfiniBand nor RoCE";
    if (attr.max_srq == 0) return "it has no shared receive queues";
    return nullptr;
}

void add_ports(ibv_device* device, std::vector<std::unique_ptr<Device>>& found) {
    const char* name = ibv_get_device_name(device);
    OpenContext context{ibv_open_device(device)};
    if (!context) {
        ODRC_INFO(FI_LOG_CORE, "{}: passed over: cannot be opened: {}", name, fi_strerror(errno));
        return;
    }
    ibv_device_attr attr{};
    if (const int error = ibv_query_device(context.get(), &attr)) {
        ODRC_INFO(FI_LOG_CORE, "{}: passed over: cannot be queried: {}", name, fi_strerror(error));
        return;
    }
    if (const char* why = unusable(*device, attr)) {
        ODRC_INFO(FI_LOG_CORE, "{}: passed over: {}", name, why);
        return;
    }
    for (uint8_t number = 1; number <= attr.phys_port_cnt; ++number) {
        Port port;
        port.device = name;
        port.number = number;
        port.port_count = attr.phys_port_cnt;
        port.device_attr = attr;
        if (ibv_query_port(context.get(), number, &port.port_attr)) {
            ODRC_INFO(FI_LOG_CORE, "{}: passed over: cannot be queried", port.name());
        } else if (port.port_attr.state != IBV_PORT_ACTIVE) {
            ODRC_INFO(FI_LOG_CORE, "{}: passed over: the port is {}", port.name(),
                      ibv_port_state_str(port.port_attr.state));
        } else if (!choose_gid(context.get(), port)) {
            ODRC_INFO(FI_LOG_CORE,
                      "{}: passed over: no RoCE v2 GID (has the interface an address?)",
                      port.name());
        } else {
            found.push_back(std::make_unique<Hca>(std::move(port)));
        }
    }
}

} // namespace

std::vector<std::unique_ptr<Device>> find_hca_devices() {
    std::vector<std::unique_ptr<Device>> found;
    int count = 0;
    DeviceList list{ibv_get_device_list(&count)};
    if (!list) ODRC_INFO(FI_LOG_CORE, "no verbs devices: {}", fi_strerror(errno));
    for (int i = 0; list && i < count; ++i) add_ports(list.get()[i], found);
    return found;
}

} // namespace odrc::verbs
