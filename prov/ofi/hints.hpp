// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

#include <rdma/fabric.h>

namespace odrc::ofi {

// Why a device port cannot do what the hints of a program for that version ask for
// (fi_getinfo(3)); null if it can. Without hints, null.
const char* mismatch(uint32_t version, const verbs::Port& port, const fi_info* hints) noexcept;

// Why an endpoint cannot be as this asks, which the program may have changed since it got it
// (fi_endpoint(3)); null if it can.
const char* endpoint_mismatch(const verbs::Port& port, const fi_info& info) noexcept;

} // namespace odrc::ofi
