// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What one operation of the program's may be at the most.

#include "transfer/atomic_operation.hpp"
#include "transfer/wire.hpp"
#include "verbs_rc/device.hpp"

#include <algorithm>

namespace odrc::transfer {

inline constexpr size_t kInjectSize = 1024;
inline constexpr size_t kMaxMessage = size_t{1} << 40;

// How many pieces of memory an operation may have on either side: as many as the device gathers.
// (A message of that many which does not go inline is copied, since its header takes a place.)
inline size_t iov_limit(const verbs::Port& port) noexcept {
    return std::min(static_cast<size_t>(port.device_attr.max_sge), wire::kIovLimit);
}

// The most elements of that size, in bytes, that one atomic call may have (fi_atomic(3)).
constexpr size_t most_elements(AtomicCall call, size_t size) noexcept {
    return wire::kAtomicLimit / size / (call == AtomicCall::compare ? 2 : 1);
}

} // namespace odrc::transfer
