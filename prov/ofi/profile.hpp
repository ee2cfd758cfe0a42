// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/engine.hpp"

namespace odrc::ofi {

// Reports what a closing endpoint has counted, where FI_ODRC_PROFILE says (fi_odrc(7)).
void report_profile(const verbs::Port& port, const transfer::Engine& engine) noexcept;

} // namespace odrc::ofi
