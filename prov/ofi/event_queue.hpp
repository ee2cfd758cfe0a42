// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "ofi/fabric.hpp"

#include <deque>
#include <mutex>
#include <rdma/fi_eq.h>
#include <vector>

namespace odrc::ofi {

// fi_eq(3). Endpoints of this provider have no events of their own: what is read here the
// application has written itself.
class EventQueue : public fid_eq {
public:
    using Fid = fid_eq;
    EventQueue(Fabric& fabric, const fi_eq_attr* attr, void* context); // throws Error

    ssize_t read(uint32_t* event, void* buffer, size_t length, bool peek) noexcept;
    ssize_t wait(uint32_t* event, void* buffer, size_t length, int timeout, bool peek) noexcept;
    ssize_t write(uint32_t event, const void* buffer, size_t length) noexcept;
    int trywait() noexcept;
    int wait_object(void* out) noexcept;

    std::atomic<int> leaning{0};

private:
    struct Event {
        uint32_t type;
        std::vector<std::byte> content;
    };

    Leaning on_fabric_;
    const bool writable_;
    const bool waitable_;
    std::mutex mutex_;
    std::deque<Event> events_;
    Fd ready_; // readable while there are events
};

} // namespace odrc::ofi
