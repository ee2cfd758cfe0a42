// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/shared_memory.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace odrc::soft {
namespace {

// Looks at what a descriptor of another process is before opening it: opening, say, a terminal
// or a fifo that is not ours could have effects.
Fd open_remote(pid_t pid, int fd, const char* kind, int flags) noexcept {
    char path[64], target[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) return Fd{};
    target[n] = 0;
    if (std::strncmp(target, kind, std::strlen(kind)) != 0) {
        errno = EBADF;
        return Fd{};
    }
    return Fd{open(path, flags | O_CLOEXEC | O_NOCTTY)};
}

} // namespace

Mapping::Mapping(int fd) noexcept {
    struct stat status {};
    if (fstat(fd, &status)) return;
    bytes_ = static_cast<size_t>(status.st_size);
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(base);
    // Most of it is never touched, and what is touched is of no use in a core dump.
    madvise(base, bytes_, MADV_DONTDUMP);
}

Mapping::~Mapping() {
    if (base_) munmap(base_, bytes_);
}

Fd create_shared_memory(const char* name, size_t bytes) noexcept {
    Fd fd{memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!fd || fchmod(fd.get(), 0600) || ftruncate(fd.get(), static_cast<off_t>(bytes)) ||
        fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return Fd{};
    return fd;
}

Fd open_shared_memory(pid_t pid, int remote, size_t least, size_t most) noexcept {
    Fd fd = open_remote(pid, remote, "/memfd:odrc-", O_RDWR);
    if (!fd) return fd;
    struct stat status {};
    if (fstat(fd.get(), &status)) return Fd{};
    const auto bytes = static_cast<size_t>(status.st_size);
    const int seals = fcntl(fd.get(), F_GET_SEALS);
    if (status.st_uid != geteuid() || bytes < least || bytes > most || seals < 0 ||
        !(seals & F_SEAL_SHRINK)) {
        errno = EACCES;
        return Fd{};
    }
    return fd;
}

Fd open_pipe(pid_t pid, int remote, uint64_t inode) noexcept {
    // Opened for reading too, so that a write never meets a pipe without a reader (SIGPIPE).
    Fd fd = open_remote(pid, remote, "pipe:", O_RDWR | O_NONBLOCK);
    if (!fd) return fd;
    struct stat status {};
    if (fstat(fd.get(), &status)) return Fd{};
    if (!S_ISFIFO(status.st_mode) || status.st_ino != inode) {
        errno = EBADF;
        return Fd{};
    }
    return fd;
}

} // namespace odrc::soft
