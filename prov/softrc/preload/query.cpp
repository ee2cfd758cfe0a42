// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the device, its port and the port's tables are.

#include "softrc/preload/verbs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace odrc::soft {
namespace {

constexpr uint16_t kDefaultPkey = 0xffff;

bool in_table(uint32_t port, int64_t index, int length) noexcept {
    return port == soft_port().number && index >= 0 && index < length;
}

// Programs hand in the structure as it was when they were built: shorter or longer than ours.
template <class T>
void copy_out(const T& value, void* to, size_t size) noexcept {
    std::memset(to, 0, size);
    std::memcpy(to, &value, std::min(size, sizeof value));
}

ibv_device_attr device_attr(ibv_context* context) noexcept {
    ibv_device_attr attr = soft_port().device_attr;
    attr.node_guid = attr.sys_image_guid = SoftContext::of(context).gid().global.interface_id;
    return attr;
}

// Registration pins nothing, so that all memory is on demand.
ibv_odp_caps odp_caps(const ibv_device_attr& attr) noexcept {
    ibv_odp_caps caps{};
    caps.general_caps = IBV_ODP_SUPPORT;
    if (soft_port().whole_memory) caps.general_caps |= IBV_ODP_SUPPORT_IMPLICIT;
    auto& each = caps.per_transport_caps;
    each.ud_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
    each.rc_odp_caps = each.ud_odp_caps | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
    if (attr.atomic_cap != IBV_ATOMIC_NONE) each.rc_odp_caps |= IBV_ODP_SUPPORT_ATOMIC;
    return caps;
}

} // namespace

int query_port_extended(ibv_context* context, uint8_t number, ibv_port_attr* attr, size_t size) {
    ibv_port_attr full{};
    const int error = SoftContext::of(context).query_port(number, &full);
    if (error == 0) copy_out(full, attr, size);
    return error;
}

int query_device_extended(ibv_context* context, const ibv_query_device_ex_input* input,
                          ibv_device_attr_ex* attr, size_t size) {
    if ((input && input->comp_mask) || size < sizeof attr->orig_attr) return EINVAL;
    ibv_device_attr_ex full{};
    full.orig_attr = device_attr(context);
    full.odp_caps = odp_caps(full.orig_attr);
    full.phys_port_cnt_ex = full.orig_attr.phys_port_cnt;
    copy_out(full, attr, size);
    return 0;
}

} // namespace odrc::soft

using namespace odrc::soft;

ODRC_VERBS int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
    *attr = device_attr(context);
    return 0;
}

// For programs built before port_cap_flags2 came to the structure.
ODRC_VERBS int ibv_query_port(ibv_context* context, uint8_t number, _compat_ibv_port_attr* attr) {
    return query_port_extended(context, number, reinterpret_cast<ibv_port_attr*>(attr),
                               offsetof(ibv_port_attr, port_cap_flags2));
}

ODRC_VERBS int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index,
                                 ibv_gid_entry* entry, uint32_t flags, size_t entry_size) {
    if (flags) return EOPNOTSUPP;
    if (!in_table(port, index, soft_port().port_attr.gid_tbl_len)) return EINVAL;
    ibv_gid_entry full{};
    full.gid = SoftContext::of(context).gid();
    full.gid_index = index;
    full.port_num = port;
    full.gid_type = IBV_GID_TYPE_IB;
    copy_out(full, entry, entry_size);
    return 0;
}

ODRC_VERBS ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                        size_t max_entries, uint32_t flags, size_t entry_size) {
    const auto length = static_cast<size_t>(soft_port().port_attr.gid_tbl_len);
    if (max_entries < length) return -EINVAL;
    auto* entry = reinterpret_cast<std::byte*>(entries);
    for (uint32_t index = 0; index < length; ++index, entry += entry_size) {
        const int error =
            _ibv_query_gid_ex(context, soft_port().number, index,
                              reinterpret_cast<ibv_gid_entry*>(entry), flags, entry_size);
        if (error) return -error;
    }
    return static_cast<ssize_t>(length);
}

ODRC_VERBS int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
    if (!in_table(port, index, soft_port().port_attr.gid_tbl_len)) {
        errno = EINVAL;
        return -1;
    }
    *gid = SoftContext::of(context).gid();
    return 0;
}

// libibverbs keeps this one to itself and its own programs: 0 is a GID of InfiniBand.
ODRC_VERBS int ibv_query_gid_type(ibv_context*, uint8_t port, unsigned index, unsigned* type) {
    if (!in_table(port, index, soft_port().port_attr.gid_tbl_len)) {
        errno = EINVAL;
        return -1;
    }
    *type = 0;
    return 0;
}

ODRC_VERBS int ibv_query_pkey(ibv_context*, uint8_t port, int index, __be16* pkey) {
    if (!in_table(port, index, soft_port().port_attr.pkey_tbl_len)) {
        errno = EINVAL;
        return -1;
    }
    *pkey = kDefaultPkey; // the same in either order of bytes
    return 0;
}

ODRC_VERBS int ibv_get_pkey_index(ibv_context* context, uint8_t port, __be16 pkey) {
    __be16 found = 0;
    for (int index = 0; ibv_query_pkey(context, port, index, &found) == 0; ++index)
        if (found == pkey) return index;
    return -1;
}
