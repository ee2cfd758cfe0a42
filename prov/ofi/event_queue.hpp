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

class Endpoint;

// fi_eq(3): what address vectors report of asynchronous insertions, and endpoints of joins; and
// what the application has written itself.
class EventQueue : public fid_eq {
public:
    using Fid = fid_eq;
    EventQueue(Fabric& fabric, const fi_eq_attr* attr, void* context); // throws Error

    bool waitable() const noexcept { return wait_.by_descriptor(); }

    // The endpoints whose progress reading makes, for they may join groups. Throws Error.
    void attach(Endpoint& endpoint);
    void detach(Endpoint& endpoint) noexcept;

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
    void make_progress() noexcept;
    void arm() noexcept; // the endpoints' devices, to wake sleepers

    Leaning on_fabric_;
    const bool writable_;
    WaitObject wait_;
    std::mutex mutex_;
    std::deque<Event> events_;
    Fd ready_; // readable while there are events
    std::mutex endpoints_mutex_;
    std::vector<Endpoint*> endpoints_;
};

} // namespace odrc::ofi
