// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/device.hpp"

#include "softrc/context.hpp"
#include "softrc/copy.hpp"
#include "softrc/faults.hpp"
#include "softrc/queue_pair.hpp"

#include <climits>
#include <cstring>

namespace odrc::soft {
namespace {

constexpr char kName[] = "soft0";

verbs::Port describe() {
    verbs::Port port;
    port.device = kName;
    ibv_device_attr& d = port.device_attr;
    d.max_mr_size = SIZE_MAX;
    d.page_size_cap = ~uint64_t{4095}; // those of 4096 bytes and all larger ones
    d.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN;
    d.max_qp = kMaxQueuePairs;
    d.max_qp_wr = kMaxWorkRequests;
    d.max_sge = d.max_sge_rd = kMaxSendSegments;
    d.max_cq = kMaxCompletionQueues;
    d.max_cqe = kMaxCompletions;
    d.max_mr = kMaxRegions - 1;
    d.max_pd = 1 << 16;
    d.max_qp_rd_atom = d.max_qp_init_rd_atom = kMaxReadAtomic;
    d.max_res_rd_atom = INT_MAX;
    d.atomic_cap = IBV_ATOMIC_HCA;
    d.max_pkeys = 1;
    d.max_srq = kMaxSharedReceiveQueues;
    d.max_ah = INT_MAX;
    d.max_srq_wr = kMaxWorkRequests;
    d.max_srq_sge = kMaxReceiveSegments;
    d.phys_port_cnt = 1;
    ibv_port_attr& p = port.port_attr;
    p.state = IBV_PORT_ACTIVE;
    p.max_mtu = p.active_mtu = IBV_MTU_4096;
    p.gid_tbl_len = 1;
    p.pkey_tbl_len = 1;
    p.max_msg_sz = kMaxMessage;
    p.link_layer = IBV_LINK_LAYER_INFINIBAND;
    // A link to nobody but itself: all processes are behind one port. Who has been given this LID
    // is on this node; the GID, the node's id, says so for certain.
    p.lid = p.sm_lid = 1;
    p.max_vl_num = 1;
    p.active_width = 2;  // IBTA 1.4, 14.2.5.6: 4 lanes
    p.active_speed = 32; // of 25 Gbit/s
    p.phys_state = 5;    // link up
    auto& loopback = reinterpret_cast<sockaddr_in&>(port.address);
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    port.fabric = "soft";
    port.this_host_only = true;
    port.writes_in_order = true;
    port.delivers = !kFaults; // of which none would be seen
    port.whole_memory = true;
    return port;
}

class SoftDevice final : public verbs::Device {
public:
    SoftDevice()
        : verbs::Device{describe()} {
        device_.node_type = IBV_NODE_CA;
        device_.transport_type = IBV_TRANSPORT_IB;
        std::strcpy(device_.name, kName);
        std::strcpy(device_.dev_name, kName);
    }

    std::unique_ptr<verbs::Context> open() const override {
        return std::make_unique<SoftContext>(device_, port());
    }

private:
    mutable ibv_device device_{}; // verbs has it writable
};

} // namespace

std::unique_ptr<verbs::Device> make_soft_device() {
    open_private_memory();
    return std::make_unique<SoftDevice>();
}

} // namespace odrc::soft
