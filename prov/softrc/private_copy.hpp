// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/copy.hpp"

namespace odrc::soft {

// Stretches of one process's memory, to be gone through in their order.
class Stretches {
public:
    static constexpr size_t kMost = 128;

    // How many more there is room for.
    size_t room() const noexcept { return kMost - end_; }
    // There is room. What continues where the last one ends makes that longer.
    void add(std::byte* begin, size_t length) noexcept {
        if (end_ > 0) {
            iovec& last = list_[end_ - 1];
            if (static_cast<std::byte*>(last.iov_base) + last.iov_len == begin) {
                last.iov_len += length;
                return;
            }
        }
        list_[end_++] = {begin, length};
    }

    // What is yet to be gone through.
    const iovec* data() const noexcept { return list_ + begin_; }
    size_t size() const noexcept { return end_ - begin_; }
    void advance(size_t bytes) noexcept {
        while (begin_ < end_ && bytes >= list_[begin_].iov_len) bytes -= list_[begin_++].iov_len;
        if (begin_ == end_) return;
        iovec& first = list_[begin_];
        first.iov_base = static_cast<std::byte*>(first.iov_base) + bytes;
        first.iov_len -= bytes;
    }
    void clear() noexcept { begin_ = end_ = 0; }

private:
    size_t begin_{0}, end_{0};
    iovec list_[kMost];
};

// Bytes between this process's memory and private memory of a peer that lets us in, on their way
// into one system call. The kernel looks up the pages of each of the peer's stretches anew, while
// many of ours cost next to nothing. So both sides are listed by themselves: what is gathered for
// one stretch of the peer's is one there, however many it is here.
class PrivateCopy {
public:
    PrivateCopy(PeerProcess& peer, Direction direction) noexcept
        : peer_{peer}
        , direction_{direction} {}

    bool empty() const noexcept { return here_.size() == 0; }
    bool has_room(size_t pieces = 1) const noexcept {
        return here_.room() >= pieces && there_.room() >= pieces;
    }
    void add(std::byte* here, uint64_t there, size_t length) noexcept {
        here_.add(here, length);
        there_.add(reinterpret_cast<std::byte*>(there), length);
    }

    // Moves them, and gives 0 or an errno as copy_pieces() does. Those before the one that cannot
    // be moved are.
    int flush() noexcept;
    // How many bytes have been moved in all.
    size_t moved() const noexcept { return moved_; }

private:
    PeerProcess& peer_;
    const Direction direction_;
    size_t moved_{0};
    Stretches here_, there_;
};

} // namespace odrc::soft
