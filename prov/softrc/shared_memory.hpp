// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <utility>

namespace odrc::soft {

// A mapping of all of a file, with one owner.
class Mapping {
public:
    Mapping() = default;
    // Null and errno on failure.
    explicit Mapping(int fd) noexcept;
    Mapping(Mapping&& other) noexcept
        : base_{std::exchange(other.base_, nullptr)}
        , bytes_{other.bytes_} {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Mapping();

    std::byte* base() const noexcept { return base_; }
    size_t bytes() const noexcept { return bytes_; }
    explicit operator bool() const noexcept { return base_ != nullptr; }

    template <class T>
    T* as() const noexcept {
        return reinterpret_cast<T*>(base_);
    }

private:
    std::byte* base_{nullptr};
    size_t bytes_{0};
};

// Anonymous shared memory of a fixed size, readable by this user alone, that lives as long as a
// descriptor or a mapping of it: nothing is left behind by a process that dies. Null and errno
// on failure.
Fd create_shared_memory(const char* name, size_t bytes) noexcept;

// Opens another process's descriptor (through proc(5), /proc/<pid>/fd): shared memory of this
// user, of a size from the least to the most, that can no longer shrink, or a pipe's read end. Null
// and errno if it is anything else.
Fd open_shared_memory(pid_t pid, int fd, size_t least, size_t most) noexcept;
Fd open_pipe(pid_t pid, int fd, uint64_t inode) noexcept;

} // namespace odrc::soft
