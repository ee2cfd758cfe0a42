// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

namespace odrc::soft {

// The device soft0: reliable connections between the processes of one user on one host, over
// shared memory. Null, after one FI_INFO line saying why, where the kernel does not let one
// process move another's memory.
std::unique_ptr<verbs::Device> find_soft_device();

} // namespace odrc::soft
