// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The one symbol that libfabric looks for (fi_provider(3)).

#include "ofi/provider.hpp"

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini(void) {
    return odrc::ofi::initialize();
}
