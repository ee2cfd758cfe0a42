// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

namespace odrc::verbs {

// Fills in the port's GID, its index, the IP address of its interface and its fabric name.
// RoCE: the RoCE v2 GID of the best IP address (IPv4, then routable IPv6, then link-local), which
// is also the interface's address. InfiniBand: GID 0 and the address of the port's IPoIB
// interface. False where a RoCE port has no v2 GID yet (its interface has no address).
bool choose_gid(ibv_context* context, Port& port);

} // namespace odrc::verbs
