// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/fi_odrc.h"
#include "verbs_rc/device.hpp"

#include <map>
#include <mutex>

namespace odrc::ofi {

// Memory of a device's that the program has for its own, as fi_odrc.h has it. What the program
// forgets is given back in the end.
class DomainMemory {
public:
    explicit DomainMemory(verbs::Context& context) noexcept
        : context_{context} {}
    ~DomainMemory();
    DomainMemory(const DomainMemory&) = delete;
    DomainMemory& operator=(const DomainMemory&) = delete;

    // Whole pages, which are zero; null where there are none.
    void* allocate(size_t length) noexcept;
    // False, and nothing done, if that was not given for this length.
    bool release(void* memory, size_t length) noexcept;

private:
    verbs::Context& context_;
    std::mutex mutex_;
    std::map<void*, size_t> lengths_; // as asked for, by where it lies
};

extern fi_odrc_memory_ops domain_memory_ops;

} // namespace odrc::ofi
