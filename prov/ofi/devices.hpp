// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/adapter.hpp"

#include <vector>

namespace odrc::ofi {

// The device ports that may be used (FI_ODRC_DEVICE): hardware first, then soft0. Looked for
// once; what the list holds lives as long as the library is loaded.
const std::vector<std::unique_ptr<verbs::Device>>& devices();

// soft0, where it is not a domain's device but beside that, whatever FI_ODRC_DEVICE says.
const verbs::Device& soft_device();

// Beside an opened device, and for as long as that: one with connections that the processes at both
// ends keep over its datagrams.
std::unique_ptr<verbs::Device> device_by_datagrams(verbs::Adapter& adapter);

// Whether endpoints of that device are to meet those of their own host on soft0
// (FI_ODRC_INTRANODE).
bool is_met_beside(const verbs::Port& port) noexcept;

// How many memory regions a domain has room for: each is known to all devices that it uses.
size_t most_regions(const verbs::Port& port);

// The device of a domain's name, or null.
const verbs::Device* find_device(const char* domain_name);

} // namespace odrc::ofi
