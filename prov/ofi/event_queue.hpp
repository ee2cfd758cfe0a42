// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "ofi/fabric.hpp"
#include "ofi/wait_object.hpp"

#include <deque>
#include <mutex>
#include <rdma/fi_eq.h>
#include <vector>

namespace odrc::ofi {

// fi_eq(3): what address vectors report of asynchronous insertions, and what the application has
// written itself. Endpoints of this provider have no events.
class EventQueue : public fid_eq {
public:
    using Fid = fid_eq;
    EventQueue(Fabric& fabric, const fi_eq_attr* attr, void* context); // throws Error

    // Of the provider's objects. Throws std::bad_alloc.
    void push(uint32_t event, const fi_eq_entry& entry);
    void push_error(const fi_eq_err_entry& error);

    ssize_t read(uint32_t* event, void* buffer, size_t length, bool peek) noexcept;
    ssize_t read_error(fi_eq_err_entry* buffer, bool peek) noexcept;
    ssize_t wait(uint32_t* event, void* buffer, size_t length, int timeout, bool peek) noexcept;
    ssize_t write(uint32_t event, const void* buffer, size_t length);
    int trywait() noexcept;
    int control(int command, void* argument) noexcept { return wait_.control(command, argument); }

    std::atomic<int> leaning{0};

private:
    struct Event {
        uint32_t type;
        bool is_error; // the content is a fi_eq_err_entry
        std::vector<std::byte> content;
    };

    void put(uint32_t type, bool is_error, const void* content, size_t length);
    void drop_first() noexcept;

    Leaning on_fabric_;
    const bool writable_;
    WaitObject wait_;
    std::mutex mutex_;
    std::deque<Event> events_;
    Fd ready_; // readable while there are events
};

} // namespace odrc::ofi
