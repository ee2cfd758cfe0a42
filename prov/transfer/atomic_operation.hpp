// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>

namespace odrc::transfer {

// The three families of calls of fi_atomic(3).
enum class AtomicCall : uint8_t { update, fetch, compare };

// The elements of one operation. Only the target needs to be aligned.
struct AtomicElements {
    std::byte* target;
    const std::byte* operands; // not read by FI_ATOMIC_READ
    const std::byte* compares; // only of the compare calls
    std::byte* results;        // what was there before; null: nobody wants to know
    size_t count;
};

// An operation on elements of one type. Each element is changed at once, as seen by all who
// change it through a function of this table, and, where its width is one that the processor
// changes at once (up to 8 bytes, and aligned to as many), by everyone.
struct AtomicOperation {
    void (*apply)(const AtomicElements& elements) noexcept;
    size_t size;      // of an element
    size_t alignment; // of the target
    bool writes;      // the target
    bool has_operands;
};

// Types whose elements a device can change by itself.
constexpr bool is_word(fi_datatype type) noexcept { return type == FI_INT64 || type == FI_UINT64; }

// Null where there is no such operation, or not for this type or in this family.
const AtomicOperation* find_operation(AtomicCall call, fi_datatype type, fi_op op) noexcept;

} // namespace odrc::transfer
