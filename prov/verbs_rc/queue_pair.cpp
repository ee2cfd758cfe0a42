// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/queue_pair.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/parameters.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

#include <sys/random.h>

namespace odrc::verbs {
namespace {

// Timers of reliable connections (IBTA 1.4, 9.7.6): an acknowledgement is awaited for
// 4.096 us * 2^14 = 67 ms, and then six times more (the kernel's rxe takes seven to mean for ever);
// a receiver without a buffer is asked again after 0.64 ms, as long as it takes.
constexpr uint8_t kAckTimeout = 14;
constexpr uint8_t kRetries = 6;
constexpr uint8_t kRnrTimer = 12;
constexpr uint8_t kRnrRetriesForever = 7;

// A packet sequence number that an old connection's stray packets will not hit. It is the kernel's:
// a generator for each thread would be forked with it, and what a library loaded late keeps for
// each thread comes from malloc, at its first use.
uint32_t random_psn() {
    uint32_t psn = 0;
    if (getrandom(&psn, sizeof psn, 0) != sizeof psn) throw Error{errno};
    return psn & 0xffffff;
}

uint8_t path_mtu(const ibv_port_attr& attr) noexcept {
    const int wanted = std::countr_zero(parameters().mtu) - std::countr_zero(128u); // ibv_mtu
    return static_cast<uint8_t>(std::min<int>(attr.active_mtu, wanted));
}

uint8_t reads_at_a_time(const ibv_device_attr& attr) noexcept {
    return static_cast<uint8_t>(
        std::clamp(std::min(attr.max_qp_rd_atom, attr.max_qp_init_rd_atom), 1, 16));
}

} // namespace

QpAddress local_address(const Port& port) noexcept {
    return {.qpn = 0,
            .psn = 0,
            .lid = port.port_attr.lid,
            .mtu = path_mtu(port.port_attr),
            .rd_atomic = reads_at_a_time(port.device_attr),
            .gid = port.gid};
}

QueuePair::QueuePair(Adapter& adapter, ibv_cq* cq, ibv_srq* srq, Depth depth, int access)
    : adapter_{adapter}
    , depth_{depth} {
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq;
    attr.srq = srq;
    attr.cap.max_send_wr = depth.work_requests;
    attr.cap.max_send_sge = depth.segments;
    if (!srq) {
        attr.cap.max_recv_wr = kOwnReceives;
        attr.cap.max_recv_sge = 1;
    }
    attr.cap.max_inline_data = adapter.max_inline();
    attr.qp_type = IBV_QPT_RC;
    qp_ = Qp{adapter.context(), adapter.context().create_qp(adapter.pd(), &attr)};
    const Port& port = adapter.port();
    if (!qp_) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no queue pair: {}", port.name(), fi_strerror(errno));
        throw Error{errno};
    }
    max_inline_ = std::min(attr.cap.max_inline_data, adapter.max_inline());
    address_ = local_address(port);
    const auto identity = adapter.context().identity(*qp_.get());
    address_.qpn = identity ? identity->qpn : qp_->qp_num;
    address_.psn = identity ? identity->psn : random_psn();
    if (const int error = to_init(access)) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: queue pair {:#x} does not go to INIT: {}", port.name(),
                  number(), fi_strerror(error));
        throw Error{error};
    }
}

int QueuePair::to_init(int access) noexcept {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = adapter_.port().number;
    attr.qp_access_flags = static_cast<unsigned>(access);
    return adapter_.context().modify_qp(
        qp_.get(), &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int QueuePair::connect(const QpAddress& remote) noexcept {
    const Port& port = adapter_.port();
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = static_cast<ibv_mtu>(std::min(remote.mtu, address_.mtu));
    attr.dest_qp_num = remote.qpn;
    attr.rq_psn = remote.psn;
    attr.max_dest_rd_atomic = address_.rd_atomic;
    attr.min_rnr_timer = kRnrTimer;
    attr.ah_attr.port_num = port.number;
    attr.ah_attr.dlid = remote.lid;
    if (port.port_attr.link_layer == IBV_LINK_LAYER_ETHERNET || remote.lid == 0) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.dgid = remote.gid;
        attr.ah_attr.grh.sgid_index = port.gid_index;
        attr.ah_attr.grh.hop_limit = 64;
    }
    if (const int error = adapter_.context().modify_qp(
            qp_.get(), &attr,
            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        return error;

    attr = {};
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = address_.psn;
    attr.timeout = kAckTimeout;
    attr.retry_cnt = kRetries;
    attr.rnr_retry = kRnrRetriesForever;
    attr.max_rd_atomic = std::min(remote.rd_atomic, address_.rd_atomic);
    return adapter_.context().modify_qp(qp_.get(), &attr,
                                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
                                            IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                            IBV_QP_MAX_QP_RD_ATOMIC);
}

void QueuePair::fail() noexcept {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    adapter_.context().modify_qp(qp_.get(), &attr, IBV_QP_STATE);
}

} // namespace odrc::verbs
