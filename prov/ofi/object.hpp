// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/error.hpp"

#include <atomic>
#include <memory>
#include <rdma/fabric.h>

namespace odrc::ofi {

// How libfabric's objects and ours are one: class Thing derives from struct fid_thing, whose
// first member is its fid.
template <class Thing>
Thing& as(fid* f) noexcept {
    return static_cast<Thing&>(*reinterpret_cast<typename Thing::Fid*>(f));
}

// Counts the objects that lean on another one, which cannot be closed before them.
class Leaning {
public:
    explicit Leaning(std::atomic<int>& count) noexcept
        : count_{&count} {
        ++*count_;
    }
    Leaning(const Leaning&) = delete;
    Leaning& operator=(const Leaning&) = delete;
    ~Leaning() { --*count_; }

private:
    std::atomic<int>* count_;
};

// fi_close for an object that nothing but the application holds.
template <class Thing>
int close(fid* f) noexcept {
    Thing& thing = as<Thing>(f);
    if (thing.leaning.load() > 0) return -FI_EBUSY;
    delete &thing;
    return 0;
}

// The entry for every call that an object does not have.
template <class Result, class... Args>
Result unsupported(Args...) noexcept {
    return -FI_ENOSYS;
}

template <class Thing>
constexpr fi_ops plain_ops(int (*bind)(fid*, fid*, uint64_t) = unsupported,
                           int (*control)(fid*, int, void*) = unsupported,
                           int (*ops_open)(fid*, const char*, uint64_t, void**,
                                           void*) = unsupported) noexcept {
    return {.size = sizeof(fi_ops),
            .close = close<Thing>,
            .bind = bind,
            .control = control,
            .ops_open = ops_open,
            .tostr = nullptr,
            .ops_set = nullptr};
}

// Makes an object and hands it to C. 0 or a negative fi_errno.
template <class Thing, class FidType, class... Args>
int create(FidType** out, Args&&... args) noexcept {
    return guarded([&] {
        *out = std::make_unique<Thing>(std::forward<Args>(args)...).release();
        return 0;
    });
}

} // namespace odrc::ofi
