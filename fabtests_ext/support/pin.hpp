// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

namespace fabtests_ext {

// Binds this process to one of the processors it may use, each rank to another while there are
// enough. Gives the processor's number.
int pin(int rank);

} // namespace fabtests_ext
