// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/object.hpp"

#include <rdma/fi_domain.h>

namespace odrc::ofi {

// fi_fabric(3)
class Fabric : public fid_fabric {
public:
    using Fid = fid_fabric;
    explicit Fabric(void* context) noexcept;

    std::atomic<int> leaning{0};
};

int open_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) noexcept;

} // namespace odrc::ofi
