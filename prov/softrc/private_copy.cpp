// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/private_copy.hpp"

#include <cerrno>

namespace odrc::soft {

// The kernel stops at the first page that is missing, and at some 2 GiB: then it is asked again,
// for the rest.
int PrivateCopy::flush() noexcept {
    while (!empty()) {
        if (peer_.lost_pid()) return ESRCH;
        const ssize_t n = direction_ == Direction::to_peer
                              ? process_vm_writev(peer_.pid(), here_.data(), here_.size(),
                                                  there_.data(), there_.size(), 0)
                              : process_vm_readv(peer_.pid(), here_.data(), here_.size(),
                                                 there_.data(), there_.size(), 0);
        if (n < 0) return errno;
        if (n == 0) return EFAULT;
        const auto bytes = static_cast<size_t>(n);
        here_.advance(bytes);
        there_.advance(bytes);
        moved_ += bytes;
    }
    here_.clear();
    there_.clear();
    return 0;
}

} // namespace odrc::soft
