// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/layout.hpp"
#include "softrc/shared_memory.hpp"

namespace odrc::soft {

// A mapped arena, this process's or another's. What comes out of shared memory as an offset
// becomes a pointer only here, and only if all of it lies inside the mapping.
class ArenaView {
public:
    ArenaView() = default;
    explicit ArenaView(const Mapping& map) noexcept
        : base_{map.base()}
        , bytes_{map.bytes()} {}

    template <class T>
    T* at(uint64_t offset, uint64_t count = 1) const noexcept {
        return static_cast<T*>(at_bytes(offset, count, sizeof(T), alignof(T)));
    }

    std::byte* bytes(uint64_t offset, uint64_t length) const noexcept {
        return at<std::byte>(offset, length);
    }

    size_t size() const noexcept { return bytes_; } // in bytes
    Arena& header() const noexcept { return *reinterpret_cast<Arena*>(base_); }
    explicit operator bool() const noexcept { return base_ != nullptr; }

private:
    void* at_bytes(uint64_t offset, uint64_t count, size_t size, size_t align) const noexcept {
        if (offset < sizeof(Arena) || offset > bytes_ || offset % align != 0 ||
            count > (bytes_ - offset) / size)
            return nullptr;
        return base_ + offset;
    }

    std::byte* base_{nullptr};
    size_t bytes_{0};
};

} // namespace odrc::soft
