// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/info.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "ofi/attributes.hpp"
#include "ofi/auth_key.hpp"
#include "ofi/devices.hpp"
#include "ofi/fi_odrc.h"
#include "ofi/hints.hpp"
#include "ofi/registration_mode.hpp"
#include "ofi/resolve.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

namespace odrc::ofi {
namespace {

// FI_RESCAN came with libfabric 2; devices are listed once. The topmost bits are libfabric's own.
constexpr uint64_t kRescan = 1ull << 35;
constexpr uint64_t kFlags =
    FI_NUMERICHOST | FI_SOURCE | FI_PROV_ATTR_ONLY | kRescan | ~uint64_t{0} << 58;

struct FreeInfo {
    void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using InfoPointer = std::unique_ptr<fi_info, FreeInfo>;

// Strings and addresses of an fi_info are freed with free(3), by libfabric.
char* copy(const std::string& text) {
    char* copied = strdup(text.c_str());
    if (!copied) throw std::bad_alloc{};
    return copied;
}

void put_bytes(std::span<const std::byte> from, void*& to, size_t& length) {
    to = std::malloc(from.size());
    if (!to) throw std::bad_alloc{};
    length = from.size();
    std::memcpy(to, from.data(), length);
}

void put_address(const ondemand::Address& from, bool native, void*& to, size_t& length) {
    if (native) return put_bytes(ondemand::NativeAddress{.socket = from}.encode(), to, length);
    put_bytes({reinterpret_cast<const std::byte*>(from.get()), from.length()}, to, length);
}

uint32_t format_of(const ondemand::Address& source, bool native) noexcept {
    if (native) return FI_ODRC_ADDRESS;
    return source.family() == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
}

// The program's key comes back to it, for what it opens with the attributes.
template <class Attributes>
void put_auth_key(const Attributes* asked, Attributes& given) {
    if (!asked || asked->auth_key_size == 0) return;
    given.auth_key = static_cast<uint8_t*>(std::malloc(asked->auth_key_size));
    if (!given.auth_key) throw std::bad_alloc{};
    given.auth_key_size = asked->auth_key_size;
    std::memcpy(given.auth_key, asked->auth_key, asked->auth_key_size);
}

// What was asked for of the primary capabilities, or all that can be had; and what comes by itself.
uint64_t caps_for(uint32_t version, const fi_info* hints) noexcept {
    constexpr uint64_t kMemory = kMemoryCaps | FI_RMA_EVENT | kRmaModifiers;
    constexpr uint64_t kAll = kPrimaryCaps | kModifierCaps | kSecondaryCaps;
    // Atomics are for those who ask for them, since they cost reads and writes some order.
    if (!hints || !hints->caps)
        return kAll & ~(prepared_for_rma(version, hints) ? FI_ATOMIC : kMemory);
    uint64_t caps = (hints->caps & kAll) | kDomainCaps;
    if (caps & kMessageCaps && !(caps & kMessageModifiers)) caps |= kMessageModifiers;
    if (caps & kMemoryCaps && !(caps & kRmaModifiers)) caps |= kRmaModifiers;
    // Who sends, and says only what peers may do to its memory, may do that to theirs: programs (as
    // Charm++) read then, and who is a target alone has no queue for it.
    if (caps & kMemoryCaps && caps & FI_SEND && !(caps & kOwnModifiers)) caps |= kOwnModifiers;
    return caps;
}

// A wish, or the default.
template <class T>
T wish(T asked, T otherwise) noexcept {
    return asked ? asked : otherwise;
}

void fill_endpoint(fi_ep_attr& ep, uint64_t caps) noexcept {
    ep.type = FI_EP_RDM;
    ep.protocol = kProtocol;
    ep.protocol_version = kProtocolVersion;
    ep.max_msg_size = transfer::kMaxMessage;
    ep.max_order_raw_size = ep.max_order_waw_size = transfer::kMaxMessage;
    ep.max_order_war_size = max_write_after_read(caps);
    ep.mem_tag_format = kTagFormat;
    ep.tx_ctx_cnt = ep.rx_ctx_cnt = 1;
}

void fill_transmit(fi_tx_attr& tx, const fi_tx_attr* asked, const verbs::Port& port,
                   uint64_t caps) noexcept {
    tx.caps = caps & kTransmitCaps;
    tx.op_flags = asked ? asked->op_flags : 0;
    tx.msg_order = message_order(caps);
    tx.inject_size = transfer::kInjectSize;
    tx.size = wish(asked ? asked->size : 0, kTransmitSize);
    tx.iov_limit = transfer::iov_limit(port);
    tx.rma_iov_limit = caps & kMemoryCaps ? transfer::iov_limit(port) : 0;
}

void fill_receive(fi_rx_attr& rx, const fi_rx_attr* asked, const verbs::Port& port,
                  uint64_t caps) noexcept {
    rx.caps = caps & kReceiveCaps;
    rx.op_flags = asked ? asked->op_flags : 0;
    rx.msg_order = message_order(caps);
    rx.size = wish(asked ? asked->size : 0, kReceiveSize);
    rx.iov_limit = transfer::iov_limit(port);
}

void fill_domain(fi_domain_attr& domain, const fi_domain_attr* asked, const verbs::Port& port,
                 int mr_mode) {
    static const fi_domain_attr nothing{};
    const fi_domain_attr& a = asked ? *asked : nothing;
    domain.name = copy(port.name());
    domain.domain = a.domain;
    domain.threading = wish(a.threading, FI_THREAD_SAFE);
    domain.control_progress = wish(a.control_progress, FI_PROGRESS_AUTO);
    domain.data_progress = wish(a.data_progress, FI_PROGRESS_MANUAL);
    domain.resource_mgmt = FI_RM_ENABLED;
    domain.av_type = a.av_type; // both are one
    domain.mr_mode = mr_mode;
    domain.mr_key_size = sizeof(uint64_t);
    domain.mr_iov_limit = kMrIovLimit;
    domain.mr_cnt = most_regions(port);
    domain.cq_data_size = kCqDataSize;
    domain.cq_cnt = domain.cntr_cnt = domain.ep_cnt = domain.tx_ctx_cnt = domain.rx_ctx_cnt =
        kObjects;
    domain.max_ep_tx_ctx = domain.max_ep_rx_ctx = 1;
    domain.caps = kDomainCaps | kVectorCaps;
}

InfoPointer make_info(uint32_t version, const verbs::Port& port, const fi_info* hints,
                      const Endpoints& endpoints, const ondemand::Address& source) {
    InfoPointer info{fi_allocinfo()};
    if (!info) throw std::bad_alloc{};
    info->caps = caps_for(version, hints);
    info->addr_format = format_of(source, endpoints.native);
    put_address(source, endpoints.native, info->src_addr, info->src_addrlen);
    if (endpoints.destination)
        put_address(*endpoints.destination, endpoints.native, info->dest_addr, info->dest_addrlen);
    info->handle = hints ? hints->handle : nullptr;
    fill_endpoint(*info->ep_attr, info->caps);
    put_auth_key(hints ? hints->ep_attr : nullptr, *info->ep_attr);
    fill_transmit(*info->tx_attr, hints ? hints->tx_attr : nullptr, port, info->caps);
    fill_receive(*info->rx_attr, hints ? hints->rx_attr : nullptr, port, info->caps);
    fill_domain(*info->domain_attr, hints ? hints->domain_attr : nullptr, port,
                registration_mode(version, hints, port, info->caps));
    put_auth_key(hints ? hints->domain_attr : nullptr, *info->domain_attr);
    info->fabric_attr->name = copy(port.fabric);
    info->fabric_attr->prov_version = provider.version;
    return info;
}

int list_ports(uint32_t version, const char* node, const char* service, uint64_t flags,
               const fi_info* hints, fi_info** list) {
    Endpoints endpoints;
    if (const int error = resolve(node, service, flags, hints, endpoints)) return error;
    InfoPointer first;
    fi_info* last = nullptr;
    for (const auto& device : devices()) {
        const verbs::Port& port = device->port();
        ondemand::Address source;
        if (const char* why = mismatch(version, port, hints)) {
            ODRC_INFO(FI_LOG_CORE, "{}: does not offer what the hints ask for: {}", port.name(),
                      why);
            continue;
        }
        if (!serves(port, endpoints, source)) {
            ODRC_INFO(FI_LOG_CORE, "{}: does not serve the addresses asked for", port.name());
            continue;
        }
        InfoPointer info = make_info(version, port, hints, endpoints, source);
        fi_info* next = info.release();
        if (last)
            last->next = next;
        else
            first.reset(next);
        last = next;
    }
    *list = first.release();
    return *list ? 0 : -FI_ENODATA;
}

} // namespace

int getinfo(uint32_t version, const char* node, const char* service, uint64_t flags,
            const fi_info* hints, fi_info** info) noexcept {
    *info = nullptr;
    if (flags & ~kFlags) return -FI_EBADFLAGS;
    if (flags & FI_SOURCE && !node && !service) return -FI_EINVAL;
    return guarded([&] { return list_ports(version, node, service, flags, hints, info); });
}

} // namespace odrc::ofi
