// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/bell.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <sys/eventfd.h>

namespace odrc {

Bell::Bell(bool needed) {
    if (!needed) return;
    event_ = Fd{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!event_) {
        ODRC_WARN(FI_LOG_CORE, "no descriptor to wait on: {}", fi_strerror(errno));
        throw Error{errno};
    }
}

void Bell::arm() noexcept {
    if (!event_) return;
    eventfd_t count;
    [[maybe_unused]] const auto n = read(event_.get(), &count, sizeof count);
    armed_ = true;
}

void Bell::ring_anyway() noexcept {
    armed_ = false;
    if (!event_) return;
    const eventfd_t one = 1;
    [[maybe_unused]] const auto n = write(event_.get(), &one, sizeof one);
}

} // namespace odrc
