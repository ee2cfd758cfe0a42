// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/peer_process.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace odrc::soft {

PeerProcess::PeerProcess(pid_t pid, int arena_fd) noexcept
    : pid_{pid}
    , pidfd_{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))} {
    if (!pidfd_) return;
    const Fd fd = open_shared_memory(pid, arena_fd, kLeastArenaBytes, kMostArenaBytes);
    if (!fd) return;
    map_ = Mapping{fd.get()};
    if (!map_) return;
    const auto* header = map_.as<Arena>();
    if (header->magic != kArenaMagic || header->version != kLayoutVersion ||
        header->pid != static_cast<uint32_t>(pid)) {
        errno = ESRCH; // another one's by now
        return;
    }
    arena_ = ArenaView{map_};
    // Tried on memory that is surely there.
    uint64_t magic = 0;
    iovec local{&magic, sizeof magic};
    iovec remote{reinterpret_cast<void*>(header->base), sizeof magic};
    lets_us_in_ = process_vm_readv(pid, &local, 1, &remote, 1, 0) == sizeof magic;
}

PeerProcess::PeerProcess(const ArenaView& own_arena) noexcept
    : pid_{getpid()}
    , arena_{own_arena} {}

bool PeerProcess::check_dead() noexcept {
    if (dead() || own()) return dead();
    pollfd died{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    if (poll(&died, 1, 0) > 0) dead_.store(true, std::memory_order_relaxed);
    return dead();
}

bool PeerProcess::lost_pid() noexcept {
    timespec tick;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
    const int64_t now = tick.tv_sec * 1'000'000'000 + tick.tv_nsec;
    if (now == asked_.load(std::memory_order_relaxed)) return dead();
    asked_.store(now, std::memory_order_relaxed);
    return check_dead();
}

void PeerProcess::raise_event(const EventPipe& pipe, uint64_t event) noexcept {
    const EventPipe name = pipe; // it lies in shared memory: read once
    if (name.fd < 0) return;
    try {
        std::lock_guard lock{mutex_};
        Fd& end = pipes_[name.inode];
        if (!end) end = open_pipe(pid_, name.fd, name.inode);
        // A full pipe has events enough to wake its reader.
        if (end) [[maybe_unused]]
            const auto n = write(end.get(), &event, sizeof event);
    } catch (const std::bad_alloc&) {
        // The owner still finds what happened when it looks.
    }
}

} // namespace odrc::soft
