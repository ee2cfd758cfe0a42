// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/address.hpp"
#include "verbs_rc/device.hpp"

#include <rdma/fabric.h>

namespace odrc::ofi {

// The addresses that a fi_getinfo call names, by node and service or in its hints.
struct Endpoints {
    std::optional<ondemand::Address> source;
    std::optional<ondemand::Address> destination;
    sa_family_t family; // that the caller wants; AF_UNSPEC: any
    bool native;        // in the provider's own format
};

// 0 or a negative fi_errno: -FI_ENODATA where a name is not known.
int resolve(const char* node, const char* service, uint64_t flags, const fi_info* hints,
            Endpoints& out);

// Resolves one node and service. family AF_UNSPEC: any. local: the address is to be bound to.
int resolve(const char* node, const char* service, sa_family_t family, bool numeric, bool local,
            ondemand::Address& out);

// Whether the port can serve these addresses, and under which address its endpoints are found
// there (port 0 unless the caller named one).
bool serves(const verbs::Port& port, const Endpoints& endpoints, ondemand::Address& source);

} // namespace odrc::ofi
