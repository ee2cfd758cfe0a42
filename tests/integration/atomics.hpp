// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "duo.hpp"

#include <rdma/fi_atomic.h>

namespace duo {

inline const Wishes kAtomicWishes{.caps = kAllCaps | FI_RMA | FI_ATOMIC | FI_FENCE,
                                  .mr_mode = kRmaMode};

// More than the bytes that one atomic changes.
inline constexpr size_t kRoom = 8192;

// Numbers that the other side may change.
template <class T>
struct Numbers {
    Numbers(const Watched& side, const std::vector<T>& values)
        : memory{side, values.size() * sizeof(T)} {
        set(values);
    }
    void set(const std::vector<T>& values) {
        std::memcpy(memory.bytes.data(), values.data(), values.size() * sizeof(T));
    }
    std::vector<T> all() const {
        std::vector<T> values(memory.bytes.size() / sizeof(T));
        std::memcpy(values.data(), memory.bytes.data(), memory.bytes.size());
        return values;
    }
    uint64_t key() const { return memory.key(); }
    uint64_t at(size_t i) const { return memory.at(i * sizeof(T)); }

    Shared memory;
};

inline fi_msg_atomic atomic_message(fi_addr_t to, std::span<const fi_ioc> operands,
                                    std::span<const fi_rma_ioc> targets, fi_datatype datatype,
                                    fi_op operation, void* context) {
    return {.msg_iov = operands.data(),
            .desc = nullptr,
            .iov_count = operands.size(),
            .addr = to,
            .rma_iov = targets.data(),
            .rma_iov_count = targets.size(),
            .datatype = datatype,
            .op = operation,
            .context = context,
            .data = 0};
}

} // namespace duo
