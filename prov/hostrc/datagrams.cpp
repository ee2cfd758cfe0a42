// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hostrc/datagrams.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <algorithm>

namespace odrc::host {
namespace {

constexpr uint32_t kKey = 0x6f647263; // Q_Key: whose datagrams these are (IBTA 1.4, 10.2.5)
constexpr uint32_t kHeader = sizeof(ibv_grh);
constexpr uint32_t kHeaderSlot = 64; // for a packet's, a line each
constexpr uint32_t kWantedInline = 2 * kHeaderSlot;
static_assert(sizeof(Packet) <= kHeaderSlot);

uint32_t max_sge_of(const verbs::Port& port) noexcept {
    return static_cast<uint32_t>(port.device_attr.max_sge);
}

uint32_t mtu_of(const verbs::Port& port) noexcept { return 128u << port.port_attr.active_mtu; }

} // namespace

size_t Datagrams::fit_into(size_t bytes, const verbs::Port& port) noexcept {
    return bytes / (kHeader + mtu_of(port));
}

Datagrams::Datagrams(verbs::Context& device, const verbs::Port& port, ibv_pd* pd, uint32_t receives,
                     ibv_comp_channel* channel, void* channel_context)
    : device_{device}
    , port_{port}
    , buffer_bytes_{kHeader + mtu_of(port)}
    , buffers_{device, port, pd, size_t{receives} * buffer_bytes_}
    , headers_{device, port, pd, kSends * kHeaderSlot}
    , cq_{device, device.create_cq(static_cast<int>(receives + kSends), channel_context, channel)} {
    if (!cq_) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no completion queue for datagrams: {}", port.name(),
                  fi_strerror(errno));
        throw Error{errno};
    }
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_.get();
    attr.cap = {.max_send_wr = kSends,
                .max_recv_wr = receives,
                .max_send_sge = std::min<uint32_t>(kSegments + 1, max_sge_of(port)),
                .max_recv_sge = 1,
                .max_inline_data = kWantedInline};
    attr.qp_type = IBV_QPT_UD;
    ibv_qp* qp = device.create_qp(pd, &attr);
    if (!qp) {
        attr.cap.max_inline_data = 0;
        qp = device.create_qp(pd, &attr);
    }
    qp_ = verbs::Qp{device, qp};
    if (!qp_) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no queue pair for datagrams: {}", port.name(),
                  fi_strerror(errno));
        throw Error{errno};
    }
    max_inline_ = attr.cap.max_inline_data;
    open(receives);
}

void Datagrams::open(uint32_t receives) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = port_.number;
    attr.qkey = kKey;
    int error = device_.modify_qp(qp_.get(), &attr,
                                  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attr.qp_state = IBV_QPS_RTR;
    if (!error) error = device_.modify_qp(qp_.get(), &attr, IBV_QP_STATE);
    attr.qp_state = IBV_QPS_RTS;
    if (!error) error = device_.modify_qp(qp_.get(), &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    if (error) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: the queue pair for datagrams does not open: {}",
                  port_.name(), fi_strerror(error));
        throw Error{error};
    }
    for (uint32_t i = 0; i < receives; ++i) {
        ibv_recv_wr wr;
        ibv_sge place;
        prepare(i, wr, place);
        post(&wr);
    }
}

uint64_t Datagrams::send(ibv_ah* to, uint32_t number, const Packet& packet,
                         std::span<const ibv_sge> data) noexcept {
    ibv_sge pieces[kSegments + 1];
    uint32_t length = sizeof packet;
    for (size_t i = 0; i < data.size(); ++i) {
        pieces[i + 1] = data[i];
        length += data[i].length;
    }
    const bool copied = length <= max_inline_;
    const uint64_t id = ++sent_;
    pieces[0] = {.addr = reinterpret_cast<uint64_t>(&packet), .length = sizeof packet, .lkey = 0};
    if (!copied) {
        std::byte* slot = headers_.bytes().data() + id % kSends * kHeaderSlot;
        std::memcpy(slot, &packet, sizeof packet);
        pieces[0].addr = reinterpret_cast<uint64_t>(slot);
        pieces[0].lkey = headers_.lkey();
    }
    ibv_send_wr wr{};
    wr.wr_id = id | kSendBit;
    wr.sg_list = pieces;
    wr.num_sge = static_cast<int>(data.size() + 1);
    wr.opcode = IBV_WR_SEND;
    if (copied) wr.send_flags = IBV_SEND_INLINE;
    if (!copied || ++untold_ >= kTellEvery) {
        wr.send_flags |= IBV_SEND_SIGNALED;
        untold_ = 0;
    }
    wr.wr.ud = {.ah = to, .remote_qpn = number, .remote_qkey = kKey};
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(qp_.get(), &wr, &bad)) {
        --sent_; // as if it were lost on the way
        return 0;
    }
    ++counts_->packets_sent;
    if (copied) return 0;
    return last_reader_ = id;
}

// What goes wrong with a datagram is a loss. The queue goes on behind it (IBTA 1.4, 10.3.1.6: SQE).
void Datagrams::end_send(const ibv_wc& wc) noexcept {
    over_ = std::max(over_, wc.wr_id & ~kSendBit);
    if (wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR) return;
    ODRC_INFO(FI_LOG_EP_DATA, "{}: a datagram was not sent: {}", port_.name(),
              ibv_wc_status_str(wc.status));
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.cur_qp_state = IBV_QPS_SQE;
    device_.modify_qp(qp_.get(), &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

std::optional<Datagrams::Arrival> Datagrams::look(const ibv_wc& wc) const noexcept {
    if (wc.status != IBV_WC_SUCCESS || wc.byte_len < kHeader + sizeof(Packet)) return std::nullopt;
    const std::byte* begin = buffer(wc.wr_id) + kHeader;
    const auto& packet = *reinterpret_cast<const Packet*>(begin);
    if (packet.version != kPacketVersion) return std::nullopt;
    return Arrival{
        packet, {begin + sizeof packet, wc.byte_len - kHeader - sizeof packet}, wc.src_qp};
}

void Datagrams::prepare(uint64_t index, ibv_recv_wr& wr, ibv_sge& place) const noexcept {
    place = {.addr = reinterpret_cast<uint64_t>(buffer(index)),
             .length = buffer_bytes_,
             .lkey = buffers_.lkey()};
    wr = {.wr_id = index, .next = nullptr, .sg_list = &place, .num_sge = 1};
}

void Datagrams::post(ibv_recv_wr* first) noexcept {
    ibv_recv_wr* bad = nullptr;
    ibv_post_recv(qp_.get(), first, &bad);
}

} // namespace odrc::host
