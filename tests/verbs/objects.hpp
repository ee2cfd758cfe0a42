// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Verbs objects with ownership. Destroying one has to succeed: a test case that leaves something
// in use fails.

#include <doctest/doctest.h>
#include <infiniband/verbs.h>
#include <memory>

namespace rig {

template <auto Destroy>
struct Destroyer {
    template <class T>
    void operator()(T* object) const {
        CHECK(Destroy(object) == 0);
    }
};
template <class T, auto Destroy>
using Owned = std::unique_ptr<T, Destroyer<Destroy>>;

using Context = Owned<ibv_context, ibv_close_device>;
using Pd = Owned<ibv_pd, ibv_dealloc_pd>;
using Channel = Owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using Cq = Owned<ibv_cq, ibv_destroy_cq>;
using Srq = Owned<ibv_srq, ibv_destroy_srq>;
using Qp = Owned<ibv_qp, ibv_destroy_qp>;
using Mr = Owned<ibv_mr, ibv_dereg_mr>;
using Ah = Owned<ibv_ah, ibv_destroy_ah>;

} // namespace rig
