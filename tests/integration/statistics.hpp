// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What an endpoint has counted.

#include "duo.hpp"
#include "prov/ofi/fi_odrc.h"

namespace duo {

inline fi_odrc_statistics_ops* statistics_ops(const Watched& side) {
    void* ops = nullptr;
    REQUIRE(fi_open_ops(&side.ep()->fid, FI_ODRC_STATISTICS_OPS, 0, &ops, nullptr) == 0);
    return static_cast<fi_odrc_statistics_ops*>(ops);
}

inline fi_odrc_statistics statistics_of(const Watched& side) {
    fi_odrc_statistics statistics{};
    REQUIRE(statistics_ops(side)->read(side.ep(), &statistics, sizeof statistics) ==
            sizeof statistics);
    return statistics;
}

// How many messages went that way, of any length.
inline uint64_t messages_of(const fi_odrc_by_size& way) {
    uint64_t messages = 0;
    for (const auto& of_size : way.classes) messages += of_size.messages;
    return messages;
}

} // namespace duo
