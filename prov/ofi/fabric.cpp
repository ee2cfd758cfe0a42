// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/fabric.hpp"

#include "base/log.hpp"
#include "ofi/devices.hpp"
#include "ofi/domain.hpp"
#include "ofi/event_queue.hpp"
#include "ofi/wait_set.hpp"

namespace odrc::ofi {
namespace {

int open_domain(fid_fabric* f, fi_info* info, fid_domain** domain, void* context) {
    if (!info || !info->domain_attr || !info->domain_attr->name) return -FI_EINVAL;
    return create<Domain>(domain, static_cast<Fabric&>(*f), *info, context);
}

int open_domain2(fid_fabric* f, fi_info* info, fid_domain** domain, uint64_t flags, void* context) {
    return flags ? -FI_EINVAL : open_domain(f, info, domain, context);
}

int open_event_queue(fid_fabric* f, fi_eq_attr* attr, fid_eq** eq, void* context) {
    return create<EventQueue>(eq, static_cast<Fabric&>(*f), attr, context);
}

int open_wait_set(fid_fabric* f, fi_wait_attr* attr, fid_wait** set) {
    return create<WaitSet>(set, static_cast<Fabric&>(*f), attr);
}

int trywait_all(fid_fabric*, fid** fids, int count) {
    for (int i = 0; i < count; ++i)
        if (const int result = trywait(*fids[i])) return result;
    return 0;
}

fi_ops fabric_fid_ops = plain_ops<Fabric>();
fi_ops_fabric fabric_ops = {.size = sizeof(fi_ops_fabric),
                            .domain = open_domain,
                            .passive_ep = unsupported,
                            .eq_open = open_event_queue,
                            .wait_open = open_wait_set,
                            .trywait = trywait_all,
                            .domain2 = open_domain2};

} // namespace

Fabric::Fabric(void* context) noexcept
    : fid_fabric{} {
    fid = {.fclass = FI_CLASS_FABRIC, .context = context, .ops = &fabric_fid_ops};
    ops = &fabric_ops;
}

int open_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) noexcept {
    if (!attr || !attr->name) return -FI_EINVAL;
    for (const auto& device : devices())
        if (device->port().fabric == attr->name) return create<Fabric>(fabric, context);
    ODRC_WARN(FI_LOG_FABRIC, "there is no device port in a fabric named '{}'", attr->name);
    return -FI_ENODATA;
}

} // namespace odrc::ofi
