// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/soft_device.hpp"

#include "softrc/device.hpp"

#include <system_error>

namespace bench {

std::unique_ptr<verbs::Context> open_soft_device() {
    static const auto device = odrc::soft::make_soft_device();
    return device->open();
}

void connect(verbs::Context& context, ibv_qp* qp, uint32_t peer) {
    const auto modify = [&](ibv_qp_attr attr, int mask) {
        if (const int error = context.modify_qp(qp, &attr, IBV_QP_STATE | mask))
            throw std::system_error{error, std::generic_category(), "modify_qp"};
    };
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    modify(attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_4096;
    attr.dest_qp_num = peer;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.dgid = context.gid();
    attr.ah_attr.grh.hop_limit = 1;
    modify(attr, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    attr = {};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 6;
    attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    modify(attr, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                     IBV_QP_MAX_QP_RD_ATOMIC);
}

} // namespace bench
