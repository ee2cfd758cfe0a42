// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/domain.hpp"

#include <list>
#include <mutex>
#include <rdma/fi_eq.h>

namespace odrc::ofi {

// fi_poll(3): asks several completion queues and counters at once whether there is news.
class PollSet : public fid_poll {
public:
    using Fid = fid_poll;
    PollSet(Domain& domain, const fi_poll_attr* attr); // throws Error

    int poll(void** contexts, int count) noexcept;
    int add(struct fid& object, uint64_t flags); // throws std::bad_alloc
    int remove(struct fid& object, uint64_t flags) noexcept;

    std::atomic<int> leaning{0};

private:
    // Neither can be closed before they part.
    struct Member {
        Member(struct fid& f, std::atomic<int>& its, std::atomic<int>& ours) noexcept
            : object{&f}
            , on_object{its}
            , on_set{ours} {}
        struct fid* object;
        Leaning on_object;
        Leaning on_set;
    };

    std::list<Member>::iterator find(const struct fid& object) noexcept;

    Leaning on_domain_;
    std::mutex mutex_;
    std::list<Member> members_;
};

} // namespace odrc::ofi
