// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/fabric.hpp"
#include "prov/ofi/fi_odrc.h"

namespace bench {

// What the endpoint of a process of a job wishes for so that the others connect by its address
// alone, if the provider is odrc (FI_ODRC_CONNECT).
inline fabtests_ext::Wishes wishes_in_job(uint32_t rank, uint32_t size, uint64_t caps) {
    fabtests_ext::Wishes wishes{.caps = caps, .address_format = FI_ODRC_ADDRESS};
    wishes.prepare = [=](fid_ep* ep) {
        const fi_odrc_place place{.rank = rank, .size = size, .job = 1, .endpoint = 0};
        fabtests_ext::check(
            fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_ODRC_OPT_PLACE, &place, sizeof place),
            "fi_setopt");
    };
    return wishes;
}

} // namespace bench
