// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "softrc/layout.hpp"

namespace odrc::soft {

// A pipe through which processes tell this one of events. Producers of any process open its read
// end through proc(5), for writing: the name they need lies in shared memory.
class Pipe {
public:
    // Check ok(), and errno.
    Pipe() noexcept;
    bool ok() const noexcept { return static_cast<bool>(read_end_); }

    int fd() const noexcept { return read_end_.get(); }
    EventPipe name() const noexcept { return {.inode = inode_, .fd = fd()}; }

    // The next event, after waiting for it unless the descriptor is non-blocking. False and errno.
    bool read(uint64_t& event) noexcept;
    // As a producer of this process. What a full pipe does not take is not missed: it wakes its
    // reader without.
    void write(uint64_t event) noexcept;
    // Takes all events of that number out again.
    void remove(uint64_t event) noexcept;

private:
    Fd read_end_;
    Fd write_end_; // keeps reads waiting while no producer has the pipe open
    uint64_t inode_{0};
};

} // namespace odrc::soft
