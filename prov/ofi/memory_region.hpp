// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/domain.hpp"

namespace odrc::ofi {

// fi_mr(3): memory that peers may read or write by its key, or that transfers name by its
// descriptor, which is nothing but the device's local key.
class MemoryRegion : public fid_mr {
public:
    using Fid = fid_mr;
    MemoryRegion(Domain& domain, const fi_mr_attr& attr); // throws Error

    std::atomic<int> leaning{0};

private:
    Leaning on_domain_;
    verbs::Mr region_;
};

extern fi_ops_mr memory_ops;

} // namespace odrc::ofi
