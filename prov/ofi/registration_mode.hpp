// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

#include <rdma/fabric.h>

// What the memory of a device's peers asks of the application (fi_mr(3), mr_mode): keys are the
// device's, addresses those of the process, and pages are there before they are registered.
namespace odrc::ofi {

// Whether the application is prepared for that. Without it, there is no RMA.
bool prepared_for_rma(uint32_t version, const fi_info* hints) noexcept;

// The mode of a domain for endpoints of these capabilities.
int registration_mode(uint32_t version, const fi_info* hints, const verbs::Port& port,
                      uint64_t caps) noexcept;

} // namespace odrc::ofi
