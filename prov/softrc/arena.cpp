// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/arena.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>
#include <unistd.h>

namespace odrc::soft {
namespace {

constexpr uint64_t kPage = 4096;

constexpr uint64_t round_up(uint64_t n, uint64_t unit) noexcept {
    return (n + unit - 1) / unit * unit;
}
constexpr uint64_t unit_of(size_t bytes) noexcept { return bytes < kPage ? kLine : kPage; }

// Where the address space is limited, half of it has room for this arena and those of 63 peers.
size_t reserved_bytes() noexcept {
    constexpr size_t kShare = 128;
    return std::clamp(round_up(address_space_limit() / kShare, kPage), kLeastArenaBytes,
                      kMostArenaBytes);
}

// Word by word, so that a peer that still looks reads the old value or none.
void clear(uint64_t* words, uint64_t bytes) noexcept {
    for (uint64_t i = 0; i < bytes / sizeof *words; ++i)
        std::atomic_ref{words[i]}.store(0, std::memory_order_relaxed);
}

} // namespace

OwnArena::OwnArena()
    : fd_{create_shared_memory("odrc-arena", reserved_bytes())} {
    if (fd_) map_ = Mapping{fd_.get()};
    if (!fd_ || !map_) {
        const int error = errno;
        ODRC_WARN(FI_LOG_DOMAIN, "soft0: no shared memory for this process: {}{}",
                  fi_strerror(error), limit_behind(error));
        throw Error{error};
    }
    header().version = kLayoutVersion;
    header().pid = static_cast<uint32_t>(getpid());
    header().base = reinterpret_cast<uint64_t>(map_.base());
    header().agent.fd = -1;
    header().magic = kArenaMagic;
    const uint64_t start = round_up(sizeof(Arena), kPage);
    free_[start] = map_.bytes() - start;
}

uint64_t OwnArena::allocate(size_t bytes) noexcept {
    const uint64_t unit = unit_of(bytes);
    const uint64_t size = round_up(bytes, unit);
    try {
        std::lock_guard lock{mutex_};
        for (auto range = free_.begin(); range != free_.end(); ++range) {
            const auto [start, length] = *range;
            const uint64_t at = round_up(start, unit);
            if (at + size > start + length) continue;
            free_.erase(range);
            if (at > start) free_[start] = at - start;
            if (at + size < start + length) free_[at + size] = start + length - (at + size);
            return at;
        }
    } catch (const std::bad_alloc&) {
    }
    return 0;
}

void OwnArena::release(uint64_t offset, size_t bytes) noexcept {
    uint64_t start = offset;
    uint64_t length = round_up(bytes, unit_of(bytes));
    // Free memory always reads as zero. Whole pages go back to the system, in a way that whoever
    // watches them hears of: by userfaultfd(2), which fallocate(2) does not tell.
    if (length < kPage || madvise(at<void>(start), length, MADV_REMOVE) != 0)
        clear(at<uint64_t>(start), length);
    try {
        std::lock_guard lock{mutex_};
        auto next = free_.lower_bound(start);
        if (next != free_.end() && next->first == start + length) {
            length += next->second;
            next = free_.erase(next);
        }
        if (next != free_.begin()) {
            auto previous = std::prev(next);
            if (previous->first + previous->second == start) {
                previous->second += length;
                return;
            }
        }
        free_.emplace_hint(next, start, length);
    } catch (const std::bad_alloc&) {
        // The range stays unused: memory is out anyway.
    }
}

} // namespace odrc::soft
