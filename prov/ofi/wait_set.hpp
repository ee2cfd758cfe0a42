// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/fabric.hpp"
#include "ofi/wait_object.hpp"

#include <mutex>
#include <vector>

namespace odrc::ofi {

// fi_poll(3): one thing to sleep on for several queues and counters, which join when they are
// opened (FI_WAIT_SET) and leave when they are closed.
class WaitSet : public fid_wait {
public:
    using Fid = fid_wait;
    WaitSet(Fabric& fabric, const fi_wait_attr* attr); // throws Error

    void add(struct fid& member, int fd); // throws Error
    void remove(struct fid& member) noexcept;

    int wait(int timeout) noexcept;
    int trywait() noexcept;
    int control(int command, void* argument) noexcept { return wait_.control(command, argument); }

    std::atomic<int> leaning{0};

private:
    Leaning on_fabric_;
    WaitObject wait_;
    std::mutex mutex_;
    std::vector<struct fid*> members_;
};

// fi_trywait(3) of one object: 0 where the caller may go to sleep on its descriptor, which then
// becomes readable when there is news.
int trywait(fid& object) noexcept;

} // namespace odrc::ofi
