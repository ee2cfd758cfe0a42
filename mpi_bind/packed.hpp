// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <memory>

namespace odrc::mpi {

// Memory for the bytes of a message whose data is not in one piece. What is short is not allocated
// anew for each message.
class Packed {
public:
    std::byte* make(size_t bytes) {
        if (bytes > size_ || !memory_) {
            size_ = bytes < kKept ? kKept : bytes;
            memory_.reset(new std::byte[size_]);
        }
        is_used_ = true;
        return memory_.get();
    }
    void drop() noexcept {
        is_used_ = false;
        if (size_ <= kKept) return;
        memory_.reset();
        size_ = 0;
    }
    // Null: there is none.
    std::byte* get() const noexcept { return is_used_ ? memory_.get() : nullptr; }
    explicit operator bool() const noexcept { return is_used_; }

private:
    static constexpr size_t kKept = 4096;

    std::unique_ptr<std::byte[]> memory_;
    size_t size_{0};
    bool is_used_{false};
};

} // namespace odrc::mpi
