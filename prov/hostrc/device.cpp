// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hostrc/device.hpp"

#include "hostrc/context.hpp"
#include "hostrc/receives.hpp"
#include "hostrc/work_request.hpp"

#include <algorithm>
#include <cstring>

namespace odrc::host {
namespace {

// What a connection's work requests may have follows from datagrams; how many connections there
// are, from nothing but memory.
verbs::Port describe(verbs::Port port) {
    ibv_device_attr& d = port.device_attr;
    d.max_qp = 1 << 20;
    d.max_sge = std::min<int>(d.max_sge - 1, kSegments);
    d.max_sge_rd = d.max_sge;
    d.max_srq_sge = kReceiveSegments;
    d.max_qp_rd_atom = d.max_qp_init_rd_atom = 16;
    d.atomic_cap = IBV_ATOMIC_HCA;
    port.port_attr.max_msg_sz = std::min(port.port_attr.max_msg_sz, kMostMessage);
    port.whole_memory = false; // peers would have this process read what is not there
    port.by_datagrams = true;
    port.delivers = false; // the peer answers first
    port.max_inline = kInline;
    return port;
}

class HostDevice : public verbs::Device {
protected:
    explicit HostDevice(const verbs::Port& below)
        : verbs::Device{describe(below)} {
        name_.node_type = IBV_NODE_CA;
        std::strncpy(name_.name, port().device.c_str(), sizeof name_.name - 1);
    }

    mutable ibv_device name_{}; // verbs has it writable
};

class HostDeviceOver final : public HostDevice {
public:
    HostDeviceOver(std::unique_ptr<verbs::Device> below, size_t room)
        : HostDevice{below->port()}
        , below_{std::move(below)}
        , room_{room} {}

    std::unique_ptr<verbs::Context> open() const override {
        return std::make_unique<HostContext>(below_->open(), name_, below_->port(), room_);
    }

private:
    std::unique_ptr<verbs::Device> below_;
    const size_t room_;
};

class HostDeviceBeside final : public HostDevice {
public:
    HostDeviceBeside(verbs::Context& opened, ibv_pd* pd, const verbs::Port& port, size_t room)
        : HostDevice{port}
        , opened_{opened}
        , pd_{pd}
        , below_{port}
        , room_{room} {}

    std::unique_ptr<verbs::Context> open() const override {
        return std::make_unique<HostContext>(opened_, pd_, name_, below_, room_);
    }

private:
    verbs::Context& opened_;
    ibv_pd* const pd_;
    const verbs::Port below_;
    const size_t room_;
};

} // namespace

std::unique_ptr<verbs::Device> make_host_device(std::unique_ptr<verbs::Device> below, size_t room) {
    return std::make_unique<HostDeviceOver>(std::move(below), room);
}

std::unique_ptr<verbs::Device> make_host_device(verbs::Context& beside, ibv_pd* pd,
                                                const verbs::Port& port, size_t room) {
    return std::make_unique<HostDeviceBeside>(beside, pd, port, room);
}

} // namespace odrc::host
