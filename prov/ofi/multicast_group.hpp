// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/endpoint.hpp"

#include <rdma/fi_cm.h>

namespace odrc::ofi {

class AvSet;

// What fi_join_collective(3) gives: an endpoint's membership in a group, until it is closed.
class MulticastGroup final : public fid_mc, private transfer::Joining {
public:
    using Fid = fid_mc;
    MulticastGroup(Endpoint& endpoint, EventQueue& events, const AvSet& members, void* context);
    ~MulticastGroup();

    std::atomic<int> leaning{0};

private:
    void joined(int error) noexcept override;

    Leaning on_endpoint_;
    Endpoint& endpoint_;
    EventQueue& events_;
};

// The entry of fi_ops_cm.
int join_group(fid_ep* ep, const void* address, uint64_t flags, fid_mc** group, void* context);

} // namespace odrc::ofi
