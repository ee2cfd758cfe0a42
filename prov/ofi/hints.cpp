// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/hints.hpp"

#include "ofi/attributes.hpp"
#include "ofi/auth_key.hpp"
#include "ofi/devices.hpp"
#include "ofi/fi_odrc.h"
#include "ofi/registration_mode.hpp"

#include <cstring>

namespace odrc::ofi {
namespace {

template <class T>
bool within(T asked, T offered) noexcept {
    return asked <= offered;
}

// Flags asked for beyond those offered.
constexpr bool beyond(uint64_t asked, uint64_t offered) noexcept { return (asked & ~offered) != 0; }

// Programs say all that they want on both sides: what concerns the other one means nothing.
constexpr uint64_t kEitherCaps = kTransmitCaps | kReceiveCaps | kSecondaryCaps;

bool differs(const char* asked, const std::string& ours) noexcept { return asked && ours != asked; }

const char* mismatch(const fi_ep_attr& ep, uint64_t caps) noexcept {
    // Message and datagram endpoints are refused, or libfabric's own layers would come on top.
    if (ep.type != FI_EP_UNSPEC && ep.type != FI_EP_RDM) return "endpoint type";
    if (ep.protocol != FI_PROTO_UNSPEC && ep.protocol != kProtocol) return "protocol";
    if (ep.protocol_version > kProtocolVersion) return "protocol version";
    if (!within(ep.max_msg_size, transfer::kMaxMessage)) return "max_msg_size";
    if (!within(ep.max_order_raw_size, transfer::kMaxMessage) ||
        !within(ep.max_order_war_size, max_write_after_read(caps)) ||
        !within(ep.max_order_waw_size, transfer::kMaxMessage))
        return "max_order sizes";
    if (ep.tx_ctx_cnt > 1 || ep.rx_ctx_cnt > 1) return "more than one context, or shared ones";
    if (!usable_auth_key(ep)) return "auth_key";
    return nullptr;
}

const char* mismatch(const fi_domain_attr& domain, const verbs::Port& port) noexcept {
    if (differs(domain.name, port.name())) return "domain name";
    if (!within(domain.control_progress, kControlUnified) ||
        !within(domain.data_progress, kControlUnified))
        return "progress";
    if (!within(domain.cq_data_size, kCqDataSize)) return "cq_data_size";
    if (!within(domain.cq_cnt, kObjects) || !within(domain.ep_cnt, kObjects) ||
        !within(domain.cntr_cnt, kObjects) || !within(domain.tx_ctx_cnt, kObjects) ||
        !within(domain.rx_ctx_cnt, kObjects))
        return "object counts";
    if (domain.max_ep_tx_ctx > 1 || domain.max_ep_rx_ctx > 1 || domain.max_ep_stx_ctx > 0 ||
        domain.max_ep_srx_ctx > 0)
        return "more than one context, or shared ones";
    if (!within(domain.mr_key_size, sizeof(uint64_t))) return "mr_key_size";
    if (!within(domain.mr_iov_limit, kMrIovLimit)) return "mr_iov_limit";
    if (!within(domain.mr_cnt, most_regions(port))) return "mr_cnt";
    if (beyond(domain.caps, kDomainCaps | kVectorCaps)) return "domain capabilities";
    if (!usable_auth_key(domain)) return "auth_key";
    return nullptr;
}

const char* mismatch(const fi_tx_attr& tx, const verbs::Port& port, uint64_t caps) noexcept {
    if (beyond(tx.caps, kEitherCaps)) return "transmit capabilities";
    if (beyond(tx.op_flags, kTransmitFlags)) return "transmit op_flags";
    if (beyond(tx.msg_order, message_order(caps))) return "transmit message order";
    if (tx.comp_order != 0) return "transmit completion order";
    if (!within(tx.inject_size, transfer::kInjectSize)) return "inject_size";
    if (!within(tx.size, kMaxTransmitSize)) return "transmit size";
    if (!within(tx.iov_limit, transfer::iov_limit(port))) return "transmit iov_limit";
    if (!within(tx.rma_iov_limit, transfer::iov_limit(port))) return "rma_iov_limit";
    return nullptr;
}

const char* mismatch(const fi_rx_attr& rx, const verbs::Port& port, uint64_t caps) noexcept {
    if (beyond(rx.caps, kEitherCaps)) return "receive capabilities";
    if (beyond(rx.op_flags, kReceiveFlags)) return "receive op_flags";
    if (beyond(rx.msg_order, message_order(caps))) return "receive message order";
    if (rx.comp_order != 0) return "receive completion order";
    if (!within(rx.size, kReceiveSize)) return "receive size";
    if (!within(rx.iov_limit, transfer::iov_limit(port))) return "receive iov_limit";
    return nullptr;
}

bool known_format(uint32_t format) noexcept {
    switch (format) {
    case FI_FORMAT_UNSPEC:
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
    case FI_ODRC_ADDRESS:
#if FI_MAJOR_VERSION >= 2
    case FI_SOCKADDR_IP:
#endif
        return true;
    default:
        return false;
    }
}

} // namespace

const char* endpoint_mismatch(const verbs::Port& port, const fi_info& info) noexcept {
    if (beyond(info.caps, kPrimaryCaps | kModifierCaps | kSecondaryCaps)) return "capabilities";
    if (info.caps & (kRmaModifiers | FI_RMA_EVENT) && !(info.caps & kMemoryCaps))
        return "reads, writes and neither RMA nor atomics";
    if (info.caps & FI_RMA_EVENT && info.caps & kRmaModifiers && !(info.caps & kRemoteModifiers))
        return "RMA events, and no reads and writes of peers";
    const char* why = nullptr;
    if (info.ep_attr && (why = mismatch(*info.ep_attr, info.caps))) return why;
    if (info.tx_attr && (why = mismatch(*info.tx_attr, port, info.caps))) return why;
    if (info.rx_attr && (why = mismatch(*info.rx_attr, port, info.caps))) return why;
    return nullptr;
}

const char* mismatch(uint32_t version, const verbs::Port& port, const fi_info* hints) noexcept {
    if (!hints) return nullptr;
    const char* why = endpoint_mismatch(port, *hints);
    if (why) return why;
    if (hints->caps & kMemoryCaps && !prepared_for_rma(version, hints))
        return "mr_mode, for RMA or atomics";
    if (!known_format(hints->addr_format)) return "address format";
    if (hints->domain_attr && (why = mismatch(*hints->domain_attr, port))) return why;
    if (hints->fabric_attr && differs(hints->fabric_attr->name, port.fabric)) return "fabric name";
    return nullptr;
}

} // namespace odrc::ofi
