// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/copy.hpp"

#include "softrc/errand.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/prctl.h>
#include <unistd.h>

namespace odrc::soft {
namespace {

// Stretches of private memory on their way into one system call.
class Batch {
public:
    Batch(Process& process, PeerProcess& peer, Direction direction) noexcept
        : process_{process}
        , peer_{peer}
        , direction_{direction} {}

    int add(std::byte* local, const Place& place, size_t offset, size_t length) noexcept {
        if (!peer_.lets_us_in())
            return run_errand(process_, peer_, direction_, local, place, offset, length);
        if (count_ == kSize)
            if (const int error = flush()) return error;
        local_[count_] = {local, length};
        remote_[count_] = {reinterpret_cast<void*>(place.address + offset), length};
        ++count_;
        return 0;
    }

    int flush() noexcept {
        size_t first = 0;
        while (first < count_) {
            if (peer_.lost_pid()) return ESRCH;
            const ssize_t n = direction_ == Direction::to_peer
                                  ? process_vm_writev(peer_.pid(), local_ + first, count_ - first,
                                                      remote_ + first, count_ - first, 0)
                                  : process_vm_readv(peer_.pid(), local_ + first, count_ - first,
                                                     remote_ + first, count_ - first, 0);
            if (n < 0) return errno;
            if (n == 0) return EFAULT;
            first = advance(first, static_cast<size_t>(n));
        }
        count_ = 0;
        return 0;
    }

private:
    static constexpr size_t kSize = 32;

    // The kernel stops at the first page that is missing, and at some 2 GiB.
    size_t advance(size_t first, size_t bytes) noexcept {
        while (first < count_ && bytes >= local_[first].iov_len) bytes -= local_[first++].iov_len;
        if (first < count_ && bytes > 0) {
            for (iovec* v : {&local_[first], &remote_[first]}) {
                v->iov_base = static_cast<std::byte*>(v->iov_base) + bytes;
                v->iov_len -= bytes;
            }
        }
        return first;
    }

    Process& process_;
    PeerProcess& peer_;
    const Direction direction_;
    size_t count_{0};
    iovec local_[kSize];
    iovec remote_[kSize];
};

} // namespace

// In small pieces. What processors have for long ones ("rep movs") is slow on some: an EPYC copies
// at a fifteenth of its speed where the target lies a few bytes further in its page than the
// source.
void copy_long(std::byte* out, const std::byte* in, size_t length) noexcept {
    constexpr size_t kPiece = 1984; // for which no C library uses it
    while (length > 0) {
        size_t piece = std::min(length, kPiece);
        asm("" : "+r"(piece)); // the compiler would use it, if it knew
        std::memcpy(out, in, piece);
        out += piece;
        in += piece;
        length -= piece;
    }
}

int copy_pieces(Process& process, PeerProcess& peer, Direction direction,
                std::span<const iovec> local, std::span<const Place> places) noexcept {
    Batch batch{process, peer, direction};
    size_t in_local = 0, in_place = 0; // done of the first of each
    while (!local.empty() && !places.empty()) {
        const Place& place = places.front();
        const size_t n = std::min(local.front().iov_len - in_local, place.length - in_place);
        auto* here = static_cast<std::byte*>(local.front().iov_base) + in_local;
        if (n > 0) {
            if (!place.mapped) {
                if (const int error = batch.add(here, place, in_place, n)) return error;
            } else if (direction == Direction::to_peer) {
                copy_bytes(place.mapped + in_place, here, n);
            } else {
                copy_bytes(here, place.mapped + in_place, n);
            }
        }
        in_local += n;
        in_place += n;
        if (in_local == local.front().iov_len) {
            local = local.subspan(1);
            in_local = 0;
        }
        if (in_place == place.length) {
            places = places.subspan(1);
            in_place = 0;
        }
    }
    return batch.flush();
}

void open_private_memory() noexcept {
    // Where Yama lets only a parent in (ptrace_scope 1), a process may open itself to the others
    // of its user.
    int scope = 0;
    std::ifstream{"/proc/sys/kernel/yama/ptrace_scope"} >> scope;
    if (scope == 1) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

} // namespace odrc::soft
