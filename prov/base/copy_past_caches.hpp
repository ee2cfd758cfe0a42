// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>

namespace odrc {

// memcpy into memory itself: lines of the target are not fetched from the cache that has them
// first, one after the other, but only told to be void. Who reads them next fetches them from
// memory. It is seen after what was written before the call, and before what is written after it.
void copy_past_caches(std::byte* out, const std::byte* in, size_t length) noexcept;

} // namespace odrc
