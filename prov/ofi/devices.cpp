// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/devices.hpp"

#include "base/log.hpp"
#include "base/parameters.hpp"
#include "hostrc/device.hpp"
#include "softrc/device.hpp"
#include "verbs_rc/hca.hpp"

#include <algorithm>
#include <sstream>

namespace odrc::ofi {
namespace {

using Devices = std::vector<std::unique_ptr<verbs::Device>>;

// A name stands for all ports of the device, name:port for one.
bool names(const std::string& wanted, const verbs::Port& port) {
    return wanted == port.device || wanted == port.device + ":" + std::to_string(port.number);
}

void restrict_to(const std::string& list, Devices& devices) {
    std::vector<std::string> wanted;
    std::istringstream in{list};
    for (std::string name; std::getline(in, name, ',');) wanted.push_back(name);
    for (const std::string& name : wanted) {
        if (std::ranges::none_of(devices, [&](const auto& d) { return names(name, d->port()); }))
            ODRC_WARN(FI_LOG_CORE, "FI_ODRC_DEVICE={}: there is no usable device port '{}'", list,
                      name);
    }
    std::erase_if(devices, [&](const auto& d) {
        return std::ranges::none_of(wanted, [&](const auto& n) { return names(n, d->port()); });
    });
}

std::unique_ptr<verbs::Device> with_reliability(std::unique_ptr<verbs::Device> device) {
    if (parameters().reliability != Reliability::host) return device;
    return host::make_host_device(std::move(device), parameters().memory / 2);
}

Devices find_devices() {
    Devices devices = verbs::find_hca_devices();
    devices.push_back(soft::make_soft_device());
    if (const std::string& list = parameters().device; !list.empty()) restrict_to(list, devices);
    for (auto& device : devices) device = with_reliability(std::move(device));
    return devices;
}

} // namespace

const Devices& devices() {
    // Never destroyed: when a program exits, threads of domains that it has left open still run.
    static const Devices& found = *new Devices{find_devices()};
    return found;
}

const verbs::Device& soft_device() {
    static const verbs::Device& soft = *soft::make_soft_device().release(); // likewise
    return soft;
}

std::unique_ptr<verbs::Device> device_by_datagrams(verbs::Adapter& adapter) {
    return host::make_host_device(adapter.context(), adapter.pd(), adapter.port(),
                                  parameters().memory / 8);
}

bool is_met_beside(const verbs::Port& port) noexcept {
    return !port.this_host_only && !port.by_datagrams &&
           parameters().intranode != Intranode::device;
}

size_t most_regions(const verbs::Port& port) {
    const int own = port.device_attr.max_mr;
    const int most =
        is_met_beside(port) ? std::min(own, soft_device().port().device_attr.max_mr) : own;
    return static_cast<size_t>(most);
}

const verbs::Device* find_device(const char* domain_name) {
    for (const auto& device : devices())
        if (device->port().name() == domain_name) return device.get();
    return nullptr;
}

} // namespace odrc::ofi
