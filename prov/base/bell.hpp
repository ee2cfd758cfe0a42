// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"

namespace odrc {

// Wakes those who sleep until something has happened: a descriptor that is readable from the first
// ring after arm() on. The owner's lock guards it.
class Bell {
public:
    // needed: somebody may sleep; without sleepers there is no descriptor. Throws Error.
    explicit Bell(bool needed);

    int fd() const noexcept { return event_.get(); } // -1 where nobody may sleep
    void arm() noexcept;
    // A branch, and no system call, unless somebody has armed it.
    void ring() noexcept {
        if (armed_) [[unlikely]]
            ring_anyway();
    }
    void ring_anyway() noexcept;

private:
    Fd event_;
    bool armed_{false};
};

} // namespace odrc
