// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/domain.hpp"

#include "base/log.hpp"
#include "base/parameters.hpp"
#include "ofi/address_vector.hpp"
#include "ofi/auth_key.hpp"
#include "ofi/completion_queue.hpp"
#include "ofi/counter.hpp"
#include "ofi/devices.hpp"
#include "ofi/endpoint.hpp"
#include "ofi/memory_region.hpp"
#include "ofi/operations.hpp"
#include "ofi/poll_set.hpp"

#include <rdma/fi_endpoint.h>

namespace odrc::ofi {
namespace {

const verbs::Device& device_of(const fi_info& info) {
    if (const verbs::Device* device = find_device(info.domain_attr->name)) return *device;
    ODRC_WARN(FI_LOG_DOMAIN, "there is no usable device port '{}'", info.domain_attr->name);
    throw Error{FI_ENODEV};
}

const fi_domain_attr& checked(const fi_info& info) {
    if (usable_auth_key(*info.domain_attr)) return *info.domain_attr;
    ODRC_WARN(FI_LOG_DOMAIN, "{}: an auth_key of {} bytes cannot be used", info.domain_attr->name,
              info.domain_attr->auth_key_size);
    throw Error{FI_EINVAL};
}

ondemand::Seal seal_of_environment() {
    return ondemand::Seal{std::as_bytes(std::span{parameters().key})};
}

int open_av(fid_domain* d, fi_av_attr* attr, fid_av** av, void* context) {
    return create<AddressVector>(av, static_cast<Domain&>(*d), attr, context);
}

int open_cq(fid_domain* d, fi_cq_attr* attr, fid_cq** cq, void* context) {
    return create<CompletionQueue>(cq, static_cast<Domain&>(*d), attr, context);
}

int open_counter(fid_domain* d, fi_cntr_attr* attr, fid_cntr** cntr, void* context) {
    return create<Counter>(cntr, static_cast<Domain&>(*d), attr, context);
}

int open_poll_set(fid_domain* d, fi_poll_attr* attr, fid_poll** set) {
    return create<PollSet>(set, static_cast<Domain&>(*d), attr);
}

int open_endpoint(fid_domain* d, fi_info* info, fid_ep** ep, void* context) {
    if (!info) return -FI_EINVAL;
    return create<Endpoint>(ep, static_cast<Domain&>(*d), *info, context);
}

int open_endpoint2(fid_domain* d, fi_info* info, fid_ep** ep, uint64_t flags, void* context) {
    return flags ? -FI_EINVAL : open_endpoint(d, info, ep, context);
}

fi_ops domain_fid_ops = plain_ops<Domain>(unsupported, control_keys, open_domain_operations);
fi_ops_domain domain_ops = {.size = sizeof(fi_ops_domain),
                            .av_open = open_av,
                            .cq_open = open_cq,
                            .endpoint = open_endpoint,
                            .scalable_ep = unsupported,
                            .cntr_open = open_counter,
                            .poll_open = open_poll_set,
                            .stx_ctx = unsupported,
                            .srx_ctx = unsupported,
                            .query_atomic = query_atomic,
                            .query_collective = query_collective,
                            .endpoint2 = open_endpoint2};

} // namespace

Domain::Domain(Fabric& fabric, const fi_info& info, void* context)
    : fid_domain{}
    , on_fabric_{fabric.leaning}
    , one_thread_{info.domain_attr->threading == FI_THREAD_DOMAIN}
    , gate_{threads()}
    , adapter_{device_of(info), threads(), watchdog_}
    , automatic_{info.domain_attr->data_progress == FI_PROGRESS_AUTO ||
                 adapter_.port().by_datagrams}
    , crossovers_{transfer::crossovers_of(adapter_), {}}
    , keys_given_{(info.domain_attr->mr_mode & FI_MR_LOCAL) != 0}
    , device_atomics_{(info.caps & FI_ATOMIC) && adapter_.has_atomics()}
    , seal_{seal_of(&checked(info), seal_of_environment())} {
    fid = {.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &domain_fid_ops};
    ops = &domain_ops;
    mr = &memory_ops;
    if (one_thread_) looker_.emplace();
    if (is_met_beside(adapter_.port())) open_soft();
    memory_.emplace((soft_ ? *soft_ : adapter_).context());
    const Reliability reliability = parameters().reliability;
    if (reliability == Reliability::automatic || reliability == Reliability::ladder)
        open_datagrams();
}

void Domain::open_soft() noexcept {
    const int error = -guarded([this] {
        soft_.emplace(soft_device(), threads(), watchdog_);
        crossovers_[1] = transfer::crossovers_of(*soft_);
        return 0;
    });
    if (error)
        ODRC_LOG(parameters().intranode == Intranode::soft ? FI_LOG_WARN : FI_LOG_INFO,
                 FI_LOG_DOMAIN, "{}: endpoints of this host are not met on soft0: {}",
                 adapter_.port().name(), fi_strerror(error));
}

void Domain::open_datagrams() noexcept {
    const int error = -guarded([this] {
        datagram_device_ = device_by_datagrams(adapter_);
        datagrams_.emplace(*datagram_device_, threads(), watchdog_);
        return 0;
    });
    if (error)
        ODRC_WARN(FI_LOG_DOMAIN, "{}: peers have connections from the first word on: {}",
                  adapter_.port().name(), fi_strerror(error));
}

} // namespace odrc::ofi
