// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/provider.hpp"

#include "base/log.hpp"
#include "base/parameters.hpp"
#include "ofi/fabric.hpp"
#include "ofi/info.hpp"

namespace odrc::ofi {
namespace {

constexpr uint32_t kVersion = FI_VERSION(0, 1);

} // namespace

fi_provider* initialize() noexcept {
    provider.version = kVersion;
    // Of the libfabric that loads us, whichever we were built with.
    provider.fi_version = fi_version();
    provider.getinfo = getinfo;
    provider.fabric = open_fabric;
    define_parameters();
    return &provider;
}

} // namespace odrc::ofi
