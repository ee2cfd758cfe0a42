// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What soft0 has not got. Each function fails in its own way, as its manual page says. Those that
// verbs.h reaches through a null pointer of the context need nothing here.

#include "softrc/preload/verbs.hpp"

namespace {

int refuse() noexcept { return errno = EOPNOTSUPP; }

std::nullptr_t refuse_object() noexcept {
    errno = EOPNOTSUPP;
    return nullptr;
}

} // namespace

ODRC_VERBS int ibv_attach_mcast(ibv_qp*, const ibv_gid*, uint16_t) { return refuse(); }
ODRC_VERBS int ibv_detach_mcast(ibv_qp*, const ibv_gid*, uint16_t) { return refuse(); }
ODRC_VERBS int ibv_set_ece(ibv_qp*, ibv_ece*) { return refuse(); }
ODRC_VERBS int ibv_query_ece(ibv_qp*, ibv_ece*) { return refuse(); }

ODRC_VERBS int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, size_t, int) {
    refuse();
    return IBV_REREG_MR_ERR_INPUT; // the region is as it was
}

// Ethernet's addresses: ours is a port of InfiniBand.
ODRC_VERBS int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, uint8_t*, uint16_t*) {
    return -refuse();
}

// Bytes arrive in no particular order.
ODRC_VERBS int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, uint32_t) { return 0; }

ODRC_VERBS ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
    return refuse_object();
}

// Objects of other processes. What cannot be imported is never given back.
ODRC_VERBS ibv_context* ibv_import_device(int) { return refuse_object(); }
ODRC_VERBS ibv_pd* ibv_import_pd(ibv_context*, uint32_t) { return refuse_object(); }
ODRC_VERBS ibv_mr* ibv_import_mr(ibv_pd*, uint32_t) { return refuse_object(); }
ODRC_VERBS ibv_dm* ibv_import_dm(ibv_context*, uint32_t) { return refuse_object(); }
ODRC_VERBS void ibv_unimport_pd(ibv_pd*) {}
ODRC_VERBS void ibv_unimport_mr(ibv_mr*) {}
ODRC_VERBS void ibv_unimport_dm(ibv_dm*) {}
