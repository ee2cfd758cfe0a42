// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <unistd.h>
#include <utility>

namespace odrc {

// A file descriptor with one owner.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) noexcept
        : fd_{fd} {}
    Fd(Fd&& other) noexcept
        : fd_{std::exchange(other.fd_, -1)} {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

private:
    int fd_{-1};
};

} // namespace odrc
