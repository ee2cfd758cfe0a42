// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Address handles.

#include "softrc/preload/verbs.hpp"

#include <cstring>
#include <endian.h>

using namespace odrc::soft;

ODRC_VERBS ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
    return SoftContext::of(pd->context).create_ah(pd, attr);
}

ODRC_VERBS int ibv_destroy_ah(ibv_ah* ah) { return SoftContext::of(ah->context).destroy_ah(ah); }

ODRC_VERBS int ibv_init_ah_from_wc(ibv_context* context, uint8_t port, ibv_wc* wc, ibv_grh* grh,
                                   ibv_ah_attr* attr) {
    *attr = {};
    attr->dlid = wc->slid;
    attr->sl = wc->sl;
    attr->src_path_bits = wc->dlid_path_bits;
    attr->port_num = port;
    if (!(wc->wc_flags & IBV_WC_GRH)) return 0;

    const ibv_gid own = SoftContext::of(context).gid(); // the only one in the port's table
    if (std::memcmp(grh->dgid.raw, own.raw, sizeof own.raw) != 0) {
        errno = EINVAL;
        return -1;
    }
    // IBTA 1.4, 8.3: version (4 bits), traffic class (8), flow label (20).
    const uint32_t flow = be32toh(grh->version_tclass_flow);
    attr->is_global = 1;
    attr->grh.dgid = grh->sgid;
    attr->grh.flow_label = flow & 0xfffff;
    attr->grh.hop_limit = grh->hop_limit;
    attr->grh.traffic_class = static_cast<uint8_t>(flow >> 20);
    return 0;
}

ODRC_VERBS ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, uint8_t port) {
    ibv_ah_attr attr;
    if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr)) return nullptr;
    return ibv_create_ah(pd, &attr);
}
