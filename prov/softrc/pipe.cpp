// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/pipe.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace odrc::soft {

Pipe::Pipe() noexcept {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return;
    Fd read_end{ends[0]}, write_end{ends[1]};
    struct stat status {};
    if (fstat(read_end.get(), &status) || fcntl(write_end.get(), F_SETFL, O_NONBLOCK)) return;
    inode_ = status.st_ino;
    read_end_ = std::move(read_end);
    write_end_ = std::move(write_end);
}

bool Pipe::read(uint64_t& event) noexcept {
    const ssize_t n = ::read(fd(), &event, sizeof event);
    if (n >= 0 && n != sizeof event) errno = EAGAIN; // somebody wrote what is no event
    return n == sizeof event;
}

void Pipe::write(uint64_t event) noexcept {
    [[maybe_unused]] const auto n = ::write(write_end_.get(), &event, sizeof event);
}

void Pipe::remove(uint64_t event) noexcept {
    int bytes = 0;
    if (ioctl(fd(), FIONREAD, &bytes)) return;
    for (size_t left = static_cast<size_t>(bytes) / sizeof event; left > 0; --left) {
        uint64_t other;
        if (!read(other)) return;
        if (other != event) write(other);
    }
}

} // namespace odrc::soft
