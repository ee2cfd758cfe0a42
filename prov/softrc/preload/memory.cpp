// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Protection domains and memory regions.

#include "softrc/preload/verbs.hpp"

using namespace odrc::soft;

ODRC_VERBS ibv_pd* ibv_alloc_pd(ibv_context* context) {
    return SoftContext::of(context).alloc_pd();
}

ODRC_VERBS int ibv_dealloc_pd(ibv_pd* pd) { return SoftContext::of(pd->context).dealloc_pd(pd); }

ODRC_VERBS ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t iova,
                                    unsigned access) {
    if (access & IBV_ACCESS_ZERO_BASED) {
        errno = EOPNOTSUPP;
        return nullptr;
    }
    access &= ~IBV_ACCESS_OPTIONAL_RANGE; // flags that a device is free to ignore
    return SoftContext::of(pd->context)
        .reg_mr_iova(pd, address, length, iova, static_cast<int>(access));
}

ODRC_VERBS ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova,
                                   int access) {
    return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}

ODRC_VERBS ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
    return ibv_reg_mr_iova(pd, address, length, reinterpret_cast<uint64_t>(address), access);
}

ODRC_VERBS int ibv_dereg_mr(ibv_mr* mr) { return SoftContext::of(mr->context).dereg_mr(mr); }

// Nothing is pinned, so that a fork harms nothing.
ODRC_VERBS int ibv_fork_init(void) { return 0; }
ODRC_VERBS ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
