// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Verbs objects with one owner: destroyed in reverse order of creation, like everything else.

#include "verbs_rc/device.hpp"

#include <span>
#include <utility>

namespace odrc::verbs {

template <class T, int (Context::*Destroy)(T*)>
class Owned {
public:
    Owned() = default;
    Owned(Context& context, T* object) noexcept
        : context_{&context}
        , object_{object} {}
    Owned(Owned&& other) noexcept
        : context_{other.context_}
        , object_{std::exchange(other.object_, nullptr)} {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(object_, other.object_);
        return *this;
    }
    ~Owned() {
        if (object_) (context_->*Destroy)(object_);
    }

    T* get() const noexcept { return object_; }
    T* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }

private:
    Context* context_{nullptr};
    T* object_{nullptr};
};

using Pd = Owned<ibv_pd, &Context::dealloc_pd>;
using Mr = Owned<ibv_mr, &Context::dereg_mr>;
using Channel = Owned<ibv_comp_channel, &Context::destroy_comp_channel>;
using Cq = Owned<ibv_cq, &Context::destroy_cq>;
using Srq = Owned<ibv_srq, &Context::destroy_srq>;
using Qp = Owned<ibv_qp, &Context::destroy_qp>;

// A registered stretch of the device's favourite memory.
class Slab {
public:
    // access: what it is for (IBV_ACCESS_*). Throws Error, after a line that names the limit where
    // it was the memory lock limit.
    Slab(Context& context, const Port& port, ibv_pd* pd, size_t bytes,
         int access = IBV_ACCESS_LOCAL_WRITE);
    Slab(Slab&& other) noexcept
        : context_{other.context_}
        , bytes_{std::exchange(other.bytes_, {})}
        , mr_{std::move(other.mr_)} {}
    Slab& operator=(Slab&&) = delete;
    ~Slab();

    std::span<std::byte> bytes() const noexcept { return bytes_; }
    uint32_t lkey() const noexcept { return mr_->lkey; }
    uint32_t rkey() const noexcept { return mr_->rkey; }

private:
    Context* context_;
    std::span<std::byte> bytes_;
    Mr mr_;
};

} // namespace odrc::verbs
