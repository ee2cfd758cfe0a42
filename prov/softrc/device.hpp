// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

namespace odrc::soft {

// The device soft0: reliable connections between the processes of one user on one host, over
// shared memory.
std::unique_ptr<verbs::Device> make_soft_device();

} // namespace odrc::soft
