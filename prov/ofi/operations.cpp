// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/operations.hpp"

#include "ofi/domain_memory.hpp"
#include "ofi/endpoint.hpp"
#include "ofi/multicast_calls.hpp"
#include "ofi/range_lists.hpp"
#include "ofi/statistics.hpp"

#include <string_view>

namespace odrc::ofi {

int open_operations(fid* endpoint, const char* name, uint64_t flags, void** ops, void*) noexcept {
    if (flags) return -FI_EBADFLAGS;
    const std::string_view wanted = name ? name : "";
    if (wanted == FI_ODRC_STATISTICS_OPS) {
        *ops = &statistics_ops;
        return 0;
    }
    if (wanted == FI_ODRC_RANGES_OPS) {
        as<Endpoint>(endpoint).will_publish_list();
        *ops = &ranges_ops;
        return 0;
    }
    if (wanted == FI_ODRC_MULTICAST_OPS) {
        if (!as<Endpoint>(endpoint).offers(FI_COLLECTIVE)) return -FI_EOPNOTSUPP;
        *ops = &multicast_ops;
        return 0;
    }
    return -FI_ENOSYS;
}

int open_domain_operations(fid*, const char* name, uint64_t flags, void** ops, void*) noexcept {
    if (flags) return -FI_EBADFLAGS;
    if (std::string_view{name ? name : ""} != FI_ODRC_MEMORY_OPS) return -FI_ENOSYS;
    *ops = &domain_memory_ops;
    return 0;
}

} // namespace odrc::ofi
