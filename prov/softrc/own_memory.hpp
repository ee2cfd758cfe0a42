// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>

namespace odrc::soft {

// Whether all of this memory is mapped in this process, and may be written if it is to be.
// Brings it in where the kernel knows how, as a NIC's driver that pins it would.
bool is_there(const void* address, size_t length, bool writable) noexcept;

} // namespace odrc::soft
